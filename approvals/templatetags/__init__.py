"""Template tags of decisions: what would not be seen, made visible."""
