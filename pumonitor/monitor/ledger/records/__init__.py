"""Records that are stored in and read from the ledger."""
