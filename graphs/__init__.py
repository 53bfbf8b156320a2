"""The LangGraph machine, its state and steps, the drivers and the studies. Knows no concrete component."""
