"""A call changes the world once, or a person is asked: every way in which that could go wrong."""
