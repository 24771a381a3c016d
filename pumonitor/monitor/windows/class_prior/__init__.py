"""The class prior of a window: followed from earlier ones, or assumed and put to the test."""
