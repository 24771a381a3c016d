"""Published estimators that read features."""
