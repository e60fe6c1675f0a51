"""What the code must look like, and what the papers promise about it."""
