"""The loops of monitors: judge what is absent, remind of what is open."""
