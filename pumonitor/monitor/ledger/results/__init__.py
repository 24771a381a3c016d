"""Windows planned, results stored, and the series read back by those that evaluate."""
