"""What is true of monitors: plain Python, no Django."""
