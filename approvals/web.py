"""What the first page shows of decisions."""

from collections.abc import Sequence

from django.urls import reverse

from approvals.queries import inbox
from approvals.rules.unseen import plainly
from runs.rules.looks import look_of
from runs.rules.policy import Actor
from runs.web.needs import Need, register


def register_needs() -> None:
    register("decisions", open_decisions)


def open_decisions(actor: Actor) -> Sequence[Need]:
    """First those that this actor may answer; what others may answer is shown as theirs."""
    mine = [_need(line, yours=True) for line in inbox.yours(actor, None).lines]
    return [*mine, *(_need(line, yours=False) for line in inbox.others(actor, None).lines)]


def _need(line: inbox.Line, *, yours: bool) -> Need:
    decision = line.decision
    look = look_of("open", kind=line.look)
    return Need(
        key=f"decision-{decision.pk}",
        family=look.family,
        glyph=look.glyph,
        sentence=plainly(decision.question),
        url=reverse("approvals:decision_show", args=[decision.pk]),
        action="Decide" if yours else "Look",
        since=decision.opened_at,
        workflow=decision.workflow,
        deadline=decision.expires_at if decision.on_expiry != "stay" else None,
        owner=f"for {', '.join(line.groups)}" if line.groups else "",
        about=decision.run.reference,
        about_url=reverse("runs:run_show", args=[decision.run_id]),
        yours=yours,
    )
