"""The class prior of a series: founded on its first windows, then followed; and said in words."""
