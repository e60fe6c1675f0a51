"""`/metrics`: figures in Prometheus' text format, for a bearer of METRICS_TOKEN or whoever is signed in."""

import hmac

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from monitors.queries.metrics import monitor_figures
from runs.queries.metrics import run_figures
from runs.rules.exposition import CONTENT_TYPE, text_of
from runs.rules.policy import Actor
from runs.web import actor_of

BY_TOKEN = Actor(kind="system", name="metrics", tenants=None)


@require_safe
@login_not_required
def show(request: HttpRequest) -> HttpResponseBase:
    """A token reads the figures of all tenants, a person those of their own."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        if not _is_ours(token.strip()):
            refused = HttpResponse("This is not the token.\n", "text/plain", status=401)
            refused.headers["WWW-Authenticate"] = "Bearer"
            return refused
        return _figures(BY_TOKEN)
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    return _figures(actor_of(request))


def _is_ours(token: str) -> bool:
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and hmac.compare_digest(token.encode(), wanted.encode())


def _figures(actor: Actor) -> HttpResponse:
    text = text_of([*run_figures(actor), *monitor_figures(actor)])
    return HttpResponse(text, CONTENT_TYPE, headers={"Cache-Control": "no-store"})
