"""What the command line adds for this installation."""
