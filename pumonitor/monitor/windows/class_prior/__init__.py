"""The class prior of a window: followed from earlier windows, or assumed and checked."""
