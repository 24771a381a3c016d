"""Windows of time, their panes, and findings about their row counts."""
