"""Every read of what runs stores."""
