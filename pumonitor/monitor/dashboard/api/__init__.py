"""The JSON API: all that the pages show and do, for programs."""
