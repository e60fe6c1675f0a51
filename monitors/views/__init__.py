"""The pages of monitors and incidents: one resource a module."""
