"""Every read of monitors, through what the actor may see."""
