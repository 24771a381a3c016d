"""Connections, tables and migrations of the state database."""
