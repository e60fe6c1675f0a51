"""$title: a workflow of its own."""
