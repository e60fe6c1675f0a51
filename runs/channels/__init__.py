"""Ways in which a message reaches people."""
