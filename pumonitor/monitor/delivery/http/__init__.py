"""HTTP requests that lead only where they may, end in time and can be signed."""
