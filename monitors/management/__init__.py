"""What is done about monitors from a shell."""
