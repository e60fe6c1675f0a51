"""Answering: a new answer of a decision."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from approvals.forms import AnswerForm
from approvals.ledger import deciding
from approvals.ledger.deciding import Decided, Door, NothingLeft
from approvals.ledger.holding import require_open
from approvals.queries.page import page_of
from approvals.queries.visible import visible_decision
from approvals.rules.demands import CommentMissing, ConfirmationMissing
from approvals.rules.schema import FieldsRefused
from approvals.rules.sight import WholeNotSeen
from approvals.views import decision
from approvals.views.refusals import refusing
from approvals.web.said import said
from runs.definition.registry import UnknownWorkflow
from runs.ledger.correcting import NothingToCorrect
from runs.ledger.limits import DeadlineTooShort, NoDeadline
from runs.ledger.plans import PlanChanged
from runs.queries.clock import db_now
from runs.rules.inputs import InvalidInput
from runs.rules.plan import BrokenWorkflow
from runs.rules.policy import SignInTooOld
from runs.rules.postures import NotReplayable, NotRestartable
from runs.rules.verbs import NotNow
from runs.web import HtmxRequest, actor_of
from runs.web.proofs import prove

REFUSALS = (
    CommentMissing,
    ConfirmationMissing,
    SignInTooOld,
    FieldsRefused,
    NothingLeft,
    WholeNotSeen,
    NoDeadline,
    DeadlineTooShort,
    InvalidInput,
    NothingToCorrect,
    NotReplayable,
    NotRestartable,
    UnknownWorkflow,
    BrokenWorkflow,
    PlanChanged,
    NotNow,
)


@require_POST
@sensitive_post_parameters("password")
@refusing
def create(request: HtmxRequest, decision_id: int) -> HttpResponse:
    asked = visible_decision(actor_of(request), decision_id)
    # Whoever comes too late is told so, not that a field is missing.
    require_open(asked, now=db_now())
    password = request.POST.get("password", "")
    mistyped = bool(password) and not prove(request, password)
    page = page_of(actor_of(request), asked)
    form = AnswerForm(page, request.POST)
    if not form.is_valid() or mistyped:
        if mistyped:
            form.add_error("password", "This is not your password.")
        return decision.answer(request, page, form, status=422)
    try:
        decided = _decided(request, form, decision_id)
    except REFUSALS as refused:
        form.add_error(None, str(refused))
        return decision.answer(request, page, form, status=422)
    messages.success(request, said(decided))
    return redirect("approvals:decision_show", decision_id)


def _decided(request: HtmxRequest, form: AnswerForm, decision_id: int) -> Decided:
    filled = form.cleaned_data
    return deciding.decide(
        actor_of(request),
        decision_id,
        option=form.chosen.key,
        fields=form.answers_of(form.chosen),
        comment=filled["comment"],
        shown_digest=filled["shown_digest"],
        confirm=filled["confirm"],
        break_glass=filled["break_glass"],
        through=Door(name="page", address=request.META.get("REMOTE_ADDR") or None),
    )
