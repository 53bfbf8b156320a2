"""Pages that explain a run or a study in one look. They read analysis, never a ledger, and open without network."""
