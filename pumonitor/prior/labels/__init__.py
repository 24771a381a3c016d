"""Labels that are mistaken, reviewed with a known propensity, or of a known frequency."""
