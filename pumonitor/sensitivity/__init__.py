"""How estimates move with the class prior: what is asked, and what comes back."""
