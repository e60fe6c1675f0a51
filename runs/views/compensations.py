"""Undoing: a confirmed call is undone by what its effect declares."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from runs.forms import UndoForm
from runs.ledger import compensating
from runs.queries import undoing
from runs.queries.clock import db_now
from runs.rules.policy import SignInTooOld, Verb, is_fresh, require
from runs.rules.undoing import NotConfirmed
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator
from runs.web.proofs import prove

PAGE = "runs/undo.html"


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID, key: str) -> HttpResponse:
    page = undoing.undo_page(actor_of(request), run_id, key)
    if page is None:
        raise Http404
    form = _form(request, page)
    if page.grave and not page.refusal:
        require(actor_of(request), Verb.DECIDE)
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form, template=PAGE)
    said = form.cleaned_data
    if said.get("password") and not prove(request, said["password"]):
        form.add_error("password", "This is not your password.")
        return moving.shown(request, page, form, template=PAGE)
    try:
        done = compensating.compensate(
            actor_of(request),
            run_id,
            key=key,
            because=said["because"],
            typed=said.get("confirm", ""),
            seen=said["seen"] or None,
        )
    except (NotConfirmed, SignInTooOld) as refused:
        form.add_error(None, str(refused))
        return moving.shown(request, page, form, template=PAGE)
    return moving.done(request, run_id, f"Asked for: {done.undo} leaves when a worker has the run.")


def _form(request: HtmxRequest, page: undoing.UndoPage) -> UndoForm:
    return UndoForm(
        grave=page.grave,
        stale=not is_fresh(actor_of(request), now=db_now()),
        data=moving.sent(request),
        initial={"seen": page.seen},
    )
