"""The pages of runs: one resource a module."""
