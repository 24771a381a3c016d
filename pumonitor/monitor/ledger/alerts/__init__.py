"""States and transitions of alerts, silences, and the panes that alerts have not seen yet."""
