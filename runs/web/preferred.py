"""What a reader prefers: pages read it from cookies, which each sign-in brings to a new browser."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponseBase

from runs.queries.preferences import preferred_by
from runs.rules.preferences import CHOICES, PLACE

YEAR = 31_536_000
LANDINGS = {
    "needs": "home",
    "runs": "runs:run_list",
    "decisions": "approvals:decision_list",
    "monitors": "monitors:monitor_list",
    "alerts": "monitors:incident_list",
    "workflows": "runs:workflow_list",
    "schedules": "runs:schedule_list",
}


def choice(request: HttpRequest, name: str) -> str:
    """What was chosen, else the first that can be."""
    said = request.COOKIES.get(name, "")
    return said if said in CHOICES[name] else CHOICES[name][0]


def zone_of(request: HttpRequest) -> ZoneInfo:
    """UTC, unless this reader switched to their own: the one they named, or that of their device."""
    if choice(request, "time") == "utc":
        return ZoneInfo("UTC")
    zones = available_timezones()
    named = (request.COOKIES.get(each, "").replace("%2F", "/") for each in (PLACE, "zone"))
    return ZoneInfo(next((zone for zone in named if zone in zones), "UTC"))


def recall(*, request: HttpRequest, user: AbstractBaseUser, **_more: Any) -> None:
    """Somebody has signed in: this browser is to show pages as they like them."""
    chosen = preferred_by(user.pk)
    request._preferred = {name: chosen.get(name, "") for name in (*CHOICES, PLACE)}  # type: ignore[attr-defined]


def landing_of(request: HttpRequest) -> str:
    """The view that they want to see first; for right behind a sign-in."""
    preferred: Mapping[str, str] = getattr(request, "_preferred", {})
    return LANDINGS.get(preferred.get("landing", ""), "home")


def bring(request: HttpRequest, response: HttpResponseBase) -> None:
    """Behind a sign-in, replace what somebody else has left in this browser."""
    preferred: Mapping[str, str] | None = getattr(request, "_preferred", None)
    if preferred is not None:
        set_in(response, preferred, secure=request.is_secure())


def set_in(response: HttpResponseBase, chosen: Mapping[str, str], *, secure: bool) -> None:
    for name, value in chosen.items():
        if value:
            response.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=secure)
        else:
            response.delete_cookie(name, samesite="Lax")
