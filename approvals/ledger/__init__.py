"""Every write of decisions: one function, one transaction, one true sentence."""
