"""What the first page shows of decisions."""

from collections.abc import Sequence

from django.urls import reverse

from approvals.queries import inbox, visible
from approvals.queries.mine import is_for
from approvals.rules.unseen import plainly
from runs.queries.keyset import count_up_to
from runs.rules.looks import look_of
from runs.rules.policy import Actor
from runs.web.needs import Need, register

CAP = 99


def register_needs() -> None:
    register("decisions", open_decisions, count=count_of_yours, place="approvals:decision_list")


def count_of_yours(actor: Actor) -> int:
    """No further than one past 99: nobody reads the difference."""
    mine = visible.open_decisions(actor).filter(is_for(actor), takes_effect_at=None)
    return count_up_to(mine, cap=CAP)


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
        owner=_owner(line),
        about=decision.run.reference,
        about_url=reverse("runs:run_show", args=[decision.run_id]),
        yours=yours,
    )


def _owner(line: inbox.Line) -> str:
    """Who reads it at present, to whom it was handed, or whose people may answer."""
    if line.reader:
        return f"{line.reader} reads it"
    if line.expected:
        return f"handed to {line.expected}"
    return f"for {', '.join(line.groups)}" if line.groups else ""
