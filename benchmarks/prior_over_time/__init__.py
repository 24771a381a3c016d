"""The class prior over windows while the prior, the labels or the model change."""
