"""Every read of decisions."""
