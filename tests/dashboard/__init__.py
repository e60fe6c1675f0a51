"""The pages: what they show, to whom, at what cost."""
