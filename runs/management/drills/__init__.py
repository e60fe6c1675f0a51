"""How a drill is conducted: its stage, its strikes, its person, and what it finds."""
