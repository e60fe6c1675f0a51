"""What everybody may see without signing in: badges at a signed address, and a published page."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from monitors.queries import showing
from runs.queries.clock import db_now


@require_safe
@login_not_required
def badge(request: HttpRequest, page: str, signed: str, kind: str, tag: str = "") -> HttpResponse:
    found = showing.badge(page, signed, tag, now=db_now()) if kind in showing.KINDS else None
    if found is None:
        raise Http404
    response: HttpResponse
    if kind == "svg":
        response = HttpResponse(found.to_svg(), content_type="image/svg+xml")
    else:
        response = JsonResponse(found.to_json() if kind == "json" else found.to_shields())
    # Whoever shows it elsewhere reads it from there, and never an old one.
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@require_safe
@login_not_required
def status(request: HttpRequest, page: str) -> HttpResponse:
    found = showing.status_page(page, now=db_now())
    if found is None:
        raise Http404
    return render(request, "monitors/status.html", {"page": found})
