"""One file per page: what it shows, in columns and words, for its template."""
