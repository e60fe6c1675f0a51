"""A tenant's status page is kept and its badges get other addresses."""

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from monitors.ledger import showing
from monitors.views.sharing import done, shown, whose_of
from runs.web import HtmxRequest, actor_of, operator


@require_POST
@operator
def keep(request: HtmxRequest) -> HttpResponse:
    title, slug = request.POST.get("title", ""), request.POST.get("slug", "").strip()
    published = "published" in request.POST
    try:
        showing.keep(
            actor_of(request),
            title=title,
            slug=slug,
            published=published,
            tenant=whose_of(request).slug,
        )
    except showing.StatusPageRefused as refused:
        given = {"title": title, "slug": slug, "published": published}
        return shown(request, status=422, given=given, errors=refused.errors)
    return done(request, lambda: "Kept.")


@require_POST
@operator
def renew_badges(request: HtmxRequest) -> HttpResponse:
    def renew() -> str:
        showing.renew_badges(actor_of(request), tenant=whose_of(request).slug)
        return "Every badge has another address; the old ones hold for 7 days."

    return done(request, renew)
