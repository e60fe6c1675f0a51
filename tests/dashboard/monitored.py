"""An object of the tenant `default` for each parameter in the addresses of monitors."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cached_property
from typing import Any

from monitors.ledger import ping_keys, showing, windows
from monitors.models import Monitor, StatusPage
from monitors.queries.showing import badge_addresses
from monitors.rules.windows import WindowWish
from runs.queries.clock import db_now
from tests.monitors.troubles import a_monitor, the_incident, turns
from tests.support import runs


class Monitored:
    """Made once, when it is asked for."""

    @cached_property
    def made(self) -> Mapping[str, Callable[[], Any]]:
        return {
            "monitor_id": lambda: self.monitor.pk,
            "window_id": lambda: self.window_id,
            "key_id": lambda: self.key_id,
            "incident_id": lambda: self.incident_id,
            "page": lambda: self.page.slug,
            "signed": lambda: badge_addresses(self.page)[0].path.split("/")[3],
            "monitors:badge_of:signed": lambda: badge_addresses(self.page)[1].path.split("/")[3],
            "tag": lambda: badge_addresses(self.page)[1].tag,
            "kind": lambda: "svg",
        }

    @cached_property
    def monitor(self) -> Monitor:
        return a_monitor("backup", tags="nightly")

    @cached_property
    def window_id(self) -> int:
        now = db_now()
        wish = WindowWish(
            monitor_id=self.monitor.pk,
            because="moving house",
            starts_at=now,
            ends_at=now + timedelta(hours=1),
        )
        return windows.open_window(runs.the_operator(), wish).pk

    @cached_property
    def key_id(self) -> int:
        return ping_keys.renew(runs.the_operator()).id

    @cached_property
    def incident_id(self) -> int:
        turns(self.monitor, "silent")
        return the_incident().pk

    @cached_property
    def page(self) -> StatusPage:
        assert self.monitor.tags, "so that there is a badge of a tag"
        return showing.keep(runs.the_operator(), title="Acme", slug="acme", published=True)
