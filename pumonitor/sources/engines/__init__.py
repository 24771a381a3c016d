"""Databases that count rows where these are: one file each, found by the scheme of a URL."""
