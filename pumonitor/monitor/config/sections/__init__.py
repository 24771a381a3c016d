"""The sections of a configuration: sources, class prior, rules, destinations."""
