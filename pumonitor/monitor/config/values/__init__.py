"""The kinds of values that a configuration is written in: lengths of time, addresses, secrets."""
