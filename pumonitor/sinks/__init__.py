"""Where results are sent: one file per kind of destination."""
