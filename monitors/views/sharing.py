"""What a tenant gives out, and its ping keys: made, shown once, ended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from monitors.conf import monitors_per_key
from monitors.ledger import ping_keys
from monitors.ledger.showing import StatusPageRefused
from monitors.queries import showing
from runs.ledger.tenants import NoSuchTenant
from runs.queries import naming
from runs.queries.clock import db_now
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    id: int
    slug: str
    all: tuple[str, ...]


def whose_of(request: HtmxRequest) -> Whose:
    """The tenant that is asked for, else the first of the actor's."""
    known = naming.tenants_seen(actor_of(request))
    wanted = request.GET.get("tenant") or request.POST.get("tenant") or None
    for pk, slug in known.items():
        if wanted in (None, slug):
            return Whose(id=pk, slug=slug, all=tuple(known.values()))
    raise Http404


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    return shown(request)


def shown(request: HtmxRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    """The page, with what was just made or refused."""
    whose, now, actor = whose_of(request), db_now(), actor_of(request)
    page = showing.page_of(whose.id)
    told = {
        "whose": whose,
        "page": page,
        "given": {"title": page.title, "slug": page.slug, "published": page.published}
        if page
        else {},
        "badges": showing.badge_addresses(page) if page else [],
        "public": showing.public_monitors(actor, whose.id),
        "keys": showing.living_keys(actor, whose.id, now=now),
        "site": request.build_absolute_uri("/").rstrip("/"),
        "may_operate": may(actor, Verb.OPERATE),
        "most_made": monitors_per_key(),
        "now": now,
        **more,
    }
    return render(request, "monitors/sharing.html", told, status=status)


@require_POST
@operator
def renew_key(request: HtmxRequest) -> HttpResponse:
    """Answered with the key itself, because it can never be shown again."""
    whose = whose_of(request)
    made = ping_keys.renew(actor_of(request), tenant=whose.slug)
    address = request.build_absolute_uri(f"/ping/{made.key}/")
    return shown(request, made=made, made_address=address)


@require_POST
@operator
def end_key(request: HtmxRequest, key_id: int) -> HttpResponse:
    actor = actor_of(request)
    if not showing.has_key(actor, key_id):
        raise Http404
    return done(request, lambda: f"The key {ping_keys.end(actor, key_id)} opens nothing any more.")


def done(request: HtmxRequest, do: Callable[[], str]) -> HttpResponse:
    """Do it, say it, and show the page again."""
    try:
        messages.success(request, do())
    except (ping_keys.NoSuchPingKey, StatusPageRefused, NoSuchTenant) as refused:
        messages.error(request, str(refused))
    return redirect(f"{reverse('monitors:sharing')}?tenant={whose_of(request).slug}")
