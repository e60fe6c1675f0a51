"""How many pings came in, and how many are kept."""

from collections.abc import Sequence

from django.db.models import Sum

from monitors.models import Monitor, Ping


def counted(monitors: Sequence[int]) -> tuple[int, int]:
    """All that ever came for these monitors, and those of them that were not pruned."""
    told = Monitor.objects.filter(pk__in=monitors).aggregate(n=Sum("n_pings"))
    return told["n"] or 0, Ping.objects.filter(monitor__in=monitors).count()
