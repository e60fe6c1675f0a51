"""How the workflow `$name` behaves."""
