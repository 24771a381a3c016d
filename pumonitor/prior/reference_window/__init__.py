"""The class prior of a window from an earlier one whose class prior is known."""
