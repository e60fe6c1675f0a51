"""Words and shapes of the pages of monitors."""
