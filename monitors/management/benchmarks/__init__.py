"""Pings a second, beside what a bare view can do."""
