"""Reads ledgers and says what they mean. Reports and the command line read this, never a ledger."""
