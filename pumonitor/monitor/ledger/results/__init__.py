"""Plan windows, store results, and read series and results back."""
