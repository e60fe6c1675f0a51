"""What a person is asked: the question, the options, and what each of them will do, in words.

An ask is JSON: `kind`, `question`, `options` (each with `key`, `label`, `consequence`, `then` as
in `Then`, `danger`, `fields`, and `details` where the consequence depends on what is filled in),
`evidence`, `groups`, `irreversible`, and, where they apply, `plan`,
`call` and `who`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from runs.rules.redaction import under

Ask = dict[str, Any]
Then = Literal["resume", "cancel", "fail", "correct", "skip", "replay", "restart", "begin", "raise"]
# What is asked after retries or the crash budget are used up, or after a definite refusal.
AFTER_FAILURE = ("give up", "crashes", "refused")


def option(
    key: str,
    label: str,
    consequence: str,
    *,
    then: Then = "resume",
    danger: bool = False,
    fields: Mapping[str, Any] | None = None,
    details: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "key": key,
        "label": label,
        "consequence": consequence,
        "then": then,
        "danger": danger,
        "fields": dict(fields or {}),
        **({"details": list(details)} if details else {}),
    }


def ask(
    kind: str,
    question: str,
    options: Sequence[dict[str, Any]],
    *,
    evidence: Any = None,
    groups: Sequence[str] = (),
    irreversible: bool = False,
    plan: Mapping[str, Any] | None = None,
    call: Mapping[str, Any] | None = None,
    redact: Sequence[str] = (),
) -> Ask:
    """`redact` are the paths of request and evidence that nobody is shown; the digest covers them."""
    return {
        "kind": kind,
        "question": question,
        "options": list(options),
        "evidence": evidence,
        "groups": list(groups),
        "irreversible": irreversible,
        "plan": dict(plan) if plan is not None else None,
        "call": dict(call) if call is not None else None,
        **({"redact": list(redact)} if redact else {}),
    }


def of_whom(who: Mapping[str, Any]) -> Ask:
    """What an ask says of whom it takes beyond one person of its groups: `quorum`, `all_of`, …"""
    return {"who": dict(who)} if who else {}


def ends_as_failed(asked: Any, answer: Any) -> bool:
    """Whether this answer to what was asked is one that stops the run as failed."""
    if not isinstance(asked, Mapping) or not isinstance(answer, Mapping):
        return False
    chosen = (each for each in asked.get("options", ()) if each["key"] == answer.get("option"))
    return any(each["then"] == "fail" for each in chosen)


def approve_plan(
    *,
    step: str,
    plan: str,
    count: int,
    digest: str,
    effects: Mapping[str, str],
    irreversible: bool,
    groups: Sequence[str],
    later: Sequence[str],
    on_expiry: str,
    generation: int = 1,
    redact: Mapping[str, Sequence[str]] | None = None,
) -> Ask:
    """Approve the sealed list `plan`, whose rows are read from where they are stored."""
    names = ", ".join(sorted(effects)) or "nothing"
    calls = "1 call" if count == 1 else f"{count:,} calls"
    return ask(
        "plan",
        f"May step {step} make {calls} of {names}?",
        _plan_options(step, calls, irreversible=irreversible, later=later),
        groups=groups,
        irreversible=irreversible,
        plan={
            "name": plan,
            "step": step,
            "generation": generation,
            "count": count,
            "digest": digest,
            "effects": dict(effects),
            "on_expiry": on_expiry,
            **({"redact": {name: [*paths] for name, paths in redact.items()}} if redact else {}),
        },
    )


def _plan_options(
    step: str, calls: str, *, irreversible: bool, later: Sequence[str]
) -> list[dict[str, Any]]:
    cannot = " This cannot be undone." if irreversible else ""
    return [
        option(
            "approve",
            "Approve",
            f"Step {step} makes, of the {calls} shown, exactly those not struck off, each once, "
            f"under its own key.{cannot} {_then_runs(later)}",
            danger=irreversible,
        ),
        option(
            "reject",
            "Reject",
            f"Nothing is sent. The run ends as cancelled before step {step}; "
            "what earlier steps did stays.",
            then="cancel",
        ),
    ]


def approve_call(
    *,
    step: str,
    call: Mapping[str, Any],
    groups: Sequence[str],
    changed_from: Any = None,
    redact: Sequence[str] = (),
    irreversible: bool = True,
) -> Ask:
    """Approve one call, which no list covers, on exactly the bytes shown."""
    undone = "This cannot be undone. " if irreversible else ""
    again = " The request has changed since it was approved." if changed_from else ""
    return ask(
        "call",
        f"May step {step} call {call['effect']} for {call['resource']}?{again}",
        [
            option(
                "approve",
                "Approve",
                f"Exactly the request shown is sent once to {call['effect']} under the key shown. "
                f"{undone}Then the step goes on.",
                danger=irreversible,
            ),
            option(
                "reject",
                "Reject",
                f"Nothing is sent. The run ends as cancelled in step {step}.",
                then="cancel",
            ),
        ],
        evidence={"changed_from": changed_from} if changed_from else None,
        groups=groups,
        irreversible=irreversible,
        call=call,
        redact=under(redact, "changed_from"),
    )


def reconcile(
    *,
    step: str,
    call: Mapping[str, Any],
    why: str,
    evidence: Any,
    irreversible: bool,
    undone_by: str = "",
    redo: Sequence[dict[str, Any]] = (),
    redact: Sequence[str] = (),
) -> Ask:
    """What happened to a call whose result nobody knows (I6); `undone_by` is what compensates it.

    `redo` are the ways on that begin earlier, or anew.
    """
    return ask(
        "reconcile",
        f"Did {call['effect']} for {call['resource']} happen?",
        [
            _happened(step),
            _did_not(call, irreversible=irreversible),
            *([_undo(step, call, undone_by)] if undone_by else []),
            *redo,
            option(
                "stop",
                "Stop",
                f"Nothing is sent. The run stops as failed in step {step}; the call stays "
                "recorded as unknown.",
                then="fail",
            ),
        ],
        evidence={"why": why, **(evidence or {})},
        irreversible=irreversible,
        call=call,
        redact=under(redact, "late_answers.*", "receiver_says"),
    )


def _happened(step: str) -> dict[str, Any]:
    return option(
        "happened",
        "It happened",
        f"Nothing is sent. Step {step} takes the id you enter as the receiver's answer and goes on.",
        fields={"receiver_id": {"type": "str", "label": "The receiver's id", "required": True}},
    )


def _did_not(call: Mapping[str, Any], *, irreversible: bool) -> dict[str, Any]:
    return option(
        "did_not",
        "It did not: send again",
        f"The same request leaves once more, as sending {call['sends'] + 1}, under the same key "
        f"{call['key']}. If it did happen after all, and the receiver does not recognise the key, it "
        "happens twice.",
        danger=irreversible,
    )


def _undo(step: str, call: Mapping[str, Any], undone_by: str) -> dict[str, Any]:
    return option(
        "compensate",
        "Undo it",
        f"{undone_by} is sent, under a key of its own, to undo what may have happened; it is told key "
        f"{call['key']}, the request, and that no answer is known. Then the call is recorded as "
        f"abandoned, and the run stops as failed in step {step}, unless the step goes on without it.",
        danger=True,
    )


def conflict(
    *,
    step: str,
    call: Mapping[str, Any],
    new_request: Any,
    beside: str,
    asked_first: bool,
    redact: Sequence[str] = (),
) -> Ask:
    """The same resource with another input: both are shown, and nothing is sent unasked (I5).

    `beside` is the resource that the new request would be sent for; `asked_first` says whether it
    takes an approval of its own.
    """
    return ask(
        "conflict",
        f"Step {step} asked for {call['effect']} on {call['resource']} before with another "
        "request. Which holds?",
        [
            _keep_first(call),
            option(
                "send_new",
                "Send the new one as well",
                f"The new request is sent as a call of its own, for the resource {beside}, under "
                "its own key; the first one stays as it is. "
                + ("It is shown for approval first." if asked_first else "It leaves at once."),
                danger=True,
            ),
            option(
                "stop",
                "Stop",
                f"Nothing is sent. The run stops as failed in step {step}.",
                then="fail",
            ),
        ],
        evidence={
            "first": call.get("request"),
            "first_state": call["state"],
            "new": new_request,
            "new_resource": beside,
        },
        call=call,
        redact=under(redact, "first", "new"),
    )


def _keep_first(call: Mapping[str, Any]) -> dict[str, Any]:
    label, then = _first_kept(str(call["state"]), unsent=bool(call.get("unsent")))
    return option("keep_first", label, f"The new request is not sent. {then}")


def _first_kept(state: str, *, unsent: bool) -> tuple[str, str]:
    """What becomes of the first request, by how it stands."""
    if state == "confirmed":
        return "Keep the first", "The step goes on with the first request and its known answer."
    if state == "refused":
        return "Keep the first", "The first was refused, and the step is told so again."
    if state == "abandoned":
        return "Keep the first", "The first was undone, and the step is told so again."
    if unsent:
        return "Send the first", "The first request, which never left, is sent under its key."
    return (
        "Keep the first",
        "Whether the first happened is settled by its key: by its contract, its probe, or a person.",
    )


def orphaned(*, step: str, calls: Sequence[Mapping[str, Any]]) -> Ask:
    """An earlier attempt made calls that the finishing attempt did not name (R2)."""
    many = "a call" if len(calls) == 1 else f"{len(calls):,} calls"
    return ask(
        "orphaned call",
        f"An earlier attempt of step {step} made {many} that its last attempt did not make. "
        "Does that stand?",
        [
            option(
                "keep",
                "Keep what was done",
                "Nothing is sent or undone. The calls stay recorded with the step, and the run "
                "goes on.",
            ),
            option(
                "stop",
                "Stop",
                f"The run stops as failed in step {step}, for somebody to put it right.",
                then="fail",
            ),
        ],
        evidence={"calls": list(calls)},
    )


def _then_runs(later: Sequence[str]) -> str:
    if not later:
        return "Then the run is done."
    return f"Then the run goes on with {', '.join(later)}."
