"""What learners of confirmed positives are worth, and what promotions by them are."""
