"""Tables of lakes: one version of them, read as a stream of the rows that count in it."""
