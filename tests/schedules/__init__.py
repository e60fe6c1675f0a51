"""Schedules: when they are due, what becomes of each time, across overlaps, changes of clocks and deaths."""
