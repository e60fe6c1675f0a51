"""The commands of monitors."""
