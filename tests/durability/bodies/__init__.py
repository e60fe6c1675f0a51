"""An app of workflows whose bodies misbehave, for the programs that tests start and kill."""
