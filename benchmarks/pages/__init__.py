"""What pages read, on a ledger of many monitors: `python -m benchmarks.pages`."""
