"""The figures and tables of the five papers, computed anew: `python -m benchmarks.reproduce`."""
