"""The frame around every page: where one can go, what waits there, whether the engine lives."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from runs.queries import pages_shell
from runs.rules.policy import Verb, may
from runs.rules.preferences import THEMES
from runs.web import actor_of
from runs.web.needs import waiting
from runs.web.preferred import choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One destination of the bar; left out while nothing answers there, or it takes a `verb`.

    Those that are gone to less often stand behind “More”, so that the bar fits a small screen.
    """

    name: str
    view: str
    key: str
    icon: str
    phone: bool = False
    count: int = 0
    url: str = ""
    here: bool = False

    verb: Verb | None = None
    more: bool = False

    @property
    def counted(self) -> str:
        return str(self.count)

    @property
    def letter(self) -> str:
        """What is pressed behind `g`."""
        return self.key[-1]


PLACES = (
    Place(name="Needs you", view="home", key="g o", icon="inbox", phone=True),
    Place(name="Runs", view="runs:run_list", key="g r", icon="list", phone=True),
    Place(name="Decisions", view="approvals:decision_list", key="g d", icon="scale", phone=True),
    Place(name="Monitors", view="monitors:monitor_list", key="g m", icon="activity", phone=True),
    Place(name="Alerts", view="monitors:incident_list", key="g a", icon="triangle-alert"),
    Place(name="Workflows", view="runs:workflow_list", key="g w", icon="workflow"),
    Place(name="Schedules", view="runs:schedule_list", key="g s", icon="clock"),
    Place(name="Events", view="runs:event_list", key="g e", icon="bell", more=True),
    Place(name="Outbox", view="runs:outbox", key="g x", icon="arrow-up-right", more=True),
    Place(name="Workers", view="runs:worker_list", key="g k", icon="server"),
    Place(name="Drills", view="runs:drill_list", key="g l", icon="flask-conical", more=True),
    Place(
        name="People",
        view="people",
        key="g p",
        icon="circle-user",
        verb=Verb.ADMINISTER,
        more=True,
    ),
    Place(
        name="Audit",
        view="runs:act_list",
        key="g t",
        icon="shield-check",
        verb=Verb.ADMINISTER,
        more=True,
    ),
)


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor; what costs a query is asked only by pages that show it."""
    theme = choice(request, "theme")
    return {
        "theme": theme,
        "density": choice(request, "density"),
        "next_theme": THEMES[(THEMES.index(theme) + 1) % len(THEMES)],
        "keys_off": choice(request, "keys") == "off",
        "zone": timezone.get_current_timezone_name(),
        "reading_local": choice(request, "time") == "local",
        "debug": settings.DEBUG,
        "places": _lazily(lambda: places(request)),
        "engine": _lazily(lambda: pages_shell.engine_state()),
    }


def _lazily(ask: Callable[[], object]) -> object:
    return SimpleLazyObject(ask)


def places(request: HttpRequest) -> list[Place]:
    """The places that exist, with the number of things that wait in each."""
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return []
    actor = actor_of(request)
    counts = waiting(actor)
    return [
        replace(place, url=url, count=counts.get(place.view, 0), here=_is_here(request, url))
        for place in PLACES
        if (place.verb is None or may(actor, place.verb)) and (url := _address(place.view))
    ]


def _address(view: str) -> str:
    try:
        return reverse(view)
    except NoReverseMatch:
        return ""


def _is_here(request: HttpRequest, url: str) -> bool:
    return request.path == url if url == "/" else request.path.startswith(url)
