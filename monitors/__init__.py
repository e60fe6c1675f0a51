"""Heartbeats, verdicts and alerts: who is told when a job falls silent."""
