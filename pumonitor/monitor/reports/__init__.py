"""Reports of windows, made from the ledger."""
