"""JSONL, CSV and Parquet made from a ledger. The ledger stays the truth."""
