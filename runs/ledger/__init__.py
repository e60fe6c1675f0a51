"""Every write of what runs stores: one function, one transaction, one true sentence."""
