"""Template tags of the pages: states, times, ids, sizes, live regions."""
