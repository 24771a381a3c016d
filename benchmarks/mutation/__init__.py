"""Whether the tests see faults: known ones (`known_faults`), and a sample of all small ones."""
