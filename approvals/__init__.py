"""Decisions: what a person is asked, the evidence shown, and the one answer."""
