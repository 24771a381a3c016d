"""Windows of time, the panes at which each is evaluated, and what their row counts reveal."""
