"""The `pumonitor` command: one file per command, nothing heavy imported before it is needed."""
