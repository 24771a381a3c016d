"""HTTP requests to allowed addresses only, with time limits and signatures."""
