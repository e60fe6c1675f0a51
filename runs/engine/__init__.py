"""The loops: claim, execute, renew, take over, tick, deliver."""
