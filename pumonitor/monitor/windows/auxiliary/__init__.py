"""The auxiliary score of a monitor: trained on its first windows, applied to each."""
