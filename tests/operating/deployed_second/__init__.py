"""An app of one release, for the programs that a test starts."""
