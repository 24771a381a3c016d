"""Estimators of a class prior from scores, one file each, as published."""
