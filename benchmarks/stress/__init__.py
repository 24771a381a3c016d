"""Three ways in which labels or negatives can spoil everything, and how often that is seen."""
