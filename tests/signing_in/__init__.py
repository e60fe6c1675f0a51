"""Who gets in, and how."""
