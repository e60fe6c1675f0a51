"""What the pages of all verbs share: the run as it stands, the form, and the answer to a refusal."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from runs.forms import MoveForm
from runs.ledger.transitions import MoveRefused, NoSuchRun, RunChanged
from runs.queries import pages_moves
from runs.queries.pages_redo import RedoPage
from runs.queries.undoing import UndoPage
from runs.rules.verbs import NotNow, RunVerb
from runs.web import HtmxRequest, actor_of

View = Callable[..., HttpResponseBase]
Page = pages_moves.MovePage | RedoPage | UndoPage
Made = TypeVar("Made", bound=Form)


def refusing(view: View) -> View:
    """Another tenant's run is 404; what has changed, or cannot be done now, is 409 with why."""

    @wraps(view)
    def answer(request: HtmxRequest, run_id: UUID, **more: Any) -> HttpResponseBase:
        try:
            return view(request, run_id, **more)
        except NoSuchRun:
            raise Http404 from None
        except (RunChanged, NotNow, MoveRefused) as refused:
            back = reverse("runs:run_show", args=[run_id])
            context = {"because": str(refused), "back_url": back}
            return render(request, "409.html", context, status=409)

    return answer


def asked(
    request: HtmxRequest,
    run_id: UUID,
    verb: RunVerb,
    form: Callable[[pages_moves.MovePage], Made],
) -> tuple[pages_moves.MovePage, Made]:
    """The page of a verb with its form: empty, or as it was sent."""
    page = pages_moves.move_page(actor_of(request), run_id, verb)
    if page is None:
        raise Http404
    return page, form(page)


def sent(request: HtmxRequest) -> Any:
    """What a form was sent with, which may be nothing; None while it is only looked at."""
    return request.POST if request.method == "POST" else None


def with_reason(request: HtmxRequest, page: pages_moves.MovePage) -> Form:
    """The form of a verb that needs nothing but why."""
    return MoveForm(data=sent(request), initial={"seen": page.seen})


def shown(
    request: HtmxRequest, page: Page, form: Form, *, template: str = "runs/move.html"
) -> HttpResponse:
    """A form that is only looked at, or one that was sent and has to be put right."""
    status = 422 if request.method == "POST" else 200
    context = {"page": page, "run": page.run, "form": form}
    return render(request, template, context, status=status)


def done(request: HtmxRequest, run_id: UUID, *said: str) -> HttpResponse:
    """Back to the run, with what was done in a sentence."""
    for sentence in said:
        messages.success(request, sentence)
    return redirect("runs:run_show", run_id)
