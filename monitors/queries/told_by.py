"""Who would hear of a monitor that is absent: the channels that such news takes, and until when nobody does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from monitors.models import Monitor
from monitors.rules.states import MonitorKind
from runs.queries import channels
from runs.queries.naming import workflows_of
from runs.rules.channels import ChannelKind, Severity

ICONS = {
    ChannelKind.MAIL: "mail",
    ChannelKind.WEBHOOK: "webhook",
    ChannelKind.APPRISE: "message-square",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A channel as a row of the list shows it; one that is dead reaches nobody."""

    channel_id: int
    name: str
    icon: str
    dead: bool


def routes_of(monitors: Sequence[Monitor]) -> Mapping[int, Sequence[Route]]:
    """The channels that the absence of each of these takes; none means mail to those who may act."""
    active = channels.active({each.tenant_id for each in monitors})
    workflows = _workflows(monitors) if active else {}
    return {
        each.pk: [
            Route(
                channel_id=channel.pk,
                name=channel.name,
                icon=ICONS[ChannelKind(channel.kind)],
                dead=channel.dead_at is not None,
            )
            for channel in active
            if channel.tenant_id == each.tenant_id
            and channels.takes(
                channel, severity=Severity.CRITICAL, workflow=workflows.get(each.subject, "")
            )
        ]
        for each in monitors
    }


def _workflows(monitors: Sequence[Monitor]) -> dict[str, str]:
    """By the subject of the monitor; an id of a run is never the number of a schedule."""
    runs = [UUID(each.subject) for each in monitors if each.kind == MonitorKind.RUN]
    schedules = [int(each.subject) for each in monitors if each.kind == MonitorKind.SCHEDULE]
    return workflows_of(runs=runs, schedules=schedules)
