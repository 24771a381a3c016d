"""What goes into the ledger and comes out of it, and how rows become it."""
