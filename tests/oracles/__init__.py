"""Naive, independent implementations that the fast ones are held against."""
