"""Every write of monitors: one function, one transaction."""
