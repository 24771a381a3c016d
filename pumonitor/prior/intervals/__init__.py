"""Intervals of an estimated class prior: its error on samples from a model that fits."""
