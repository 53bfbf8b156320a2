"""What acts in a turn: editors, gates, scenarios and the policies around them. Never imports langgraph."""
