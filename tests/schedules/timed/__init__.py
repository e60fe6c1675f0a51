"""Workflows that the programs of these tests know."""
