"""What the monitor can carry: rows, windows, monitors: `python -m benchmarks.scale`."""
