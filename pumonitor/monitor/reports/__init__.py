"""The report of a window, made from what the ledger holds."""
