"""The pages of decisions: one resource a module."""
