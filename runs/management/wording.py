"""Runs, events and workers in lines for people at a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from runs.queries.crew import Hand
from runs.queries.pages_tabs import Chain
from runs.queries.recovery import Figures
from runs.rules.words import of, size, span

Shown = Mapping[str, Any]


def lines_of_list(runs: Sequence[Shown]) -> Iterator[str]:
    if not runs:
        yield "No such runs. `manage.py runs start WORKFLOW --input JSON` starts one."
    for run in runs:
        yield (
            f"{run['id']}  {run['state']:<10} {run['workflow']} {run['reference']}"
            f"  {run['created_at'][:19]}  {run['why']['sentence']}"
        )


def lines_of_run(run: Shown) -> Iterator[str]:
    yield f"{run['workflow']} version {run['version']}, {run['reference']}, run {run['id']}"
    yield f"{run['state']}, started by {run['started_by']} at {_at(run['created_at'])}"
    if run["labels"]:
        yield ", ".join(f"{name}={value}" for name, value in sorted(run["labels"].items()))
    yield from lines_of_why(run["why"])
    if run["restart_of"]:
        yield f"begun in place of run {run['restart_of']}"
    for other in run["restarted_as"]:
        yield f"restarted as run {other}"
    for warning in run["warnings"]:
        yield f"warning: {warning}"
    for note in run["notes"]:
        yield f"noted by {note['by']} at {_at(note['at'])}: {note['text'] or 'withdrawn'}"
    yield from lines_of_went_on(run)
    yield ""
    for step in run["steps"]:
        yield from _lines_of_step(step)


def lines_of_why(why: Shown) -> Iterator[str]:
    yield why["sentence"]
    if why["since"]:
        yield f"since {_at(why['since'])}"
    if why["next"]:
        due = f", at {_at(why['next_at'])}" if why["next_at"] else ""
        yield f"next: {why['next'].rstrip('.')}{due}"


def lines_of_went_on(run: Shown) -> Iterator[str]:
    """Each time it went on, and how often it was tried, where there is anything to tell."""
    for each in run["went_on"]:
        cursor = f" cursor {each['cursor']:,}" if each["cursor"] else ""
        held = f"; worker {each['worker']} fence {each['fence']}" if each["worker"] else ""
        kept = f"kept {of(each['kept_steps'], 'step')}, {of(each['kept_keys'], 'call')}"
        yield (
            f"went on ({each['trigger']}): {_at(each['at'])} {each['step']} behind checkpoint "
            f"{each['checkpoint']}{cursor}: {each['reason']}; {kept}{held}"
        )
    counts = ", ".join(f"{name} {amount}" for name, amount in run["tried"].items() if amount)
    if run["went_on"]:
        yield f"tried: {counts}"


def lines_of_limits(limits: Sequence[Shown]) -> Iterator[str]:
    for each in limits:
        yield f"limit: {_at(each['at'])} {each['sentence']}"


def _lines_of_step(step: Shown) -> Iterator[str]:
    done = f"  {step['done']:,}" if step["done"] else ""
    total = f" of {step['total']:,}" if done and step["total"] else ""
    tried = f"  attempt {step['attempt']}" if step["attempt"] > 1 else ""
    lost = f", lost {of(step['crashes'], 'worker')}" if step["crashes"] else ""
    yield f"{step['ordinal']:>3}. {step['key']:<24} {step['state']:<10}{done}{total}{tried}{lost}"
    if step["error"] and step["state"] != "succeeded":
        yield f"     {step['error']}"


def line_of_event(event: Shown) -> str:
    body = "" if event["body"] == "{}" else event["body"] or "(erased)"
    fence = f" fence {event['fence']}" if event["fence"] else ""
    cut = body if len(body) <= 160 else f"{body[:160]}… ({len(body):,} characters)"
    return (
        f"{event['seq']:>4}  {_at(event['at'])}  {event['kind']} {event['step']}"
        f"  {event['actor']}{fence}  {cut}"
    ).rstrip()


def lines_of_chain(chain: Chain, line: Shown | None) -> Iterator[str]:
    yield ""
    if chain.verified:
        yield f"The chain holds: {of(chain.events, 'event')}, head {chain.head}"
    else:
        yield f"The chain is broken at event {chain.first_bad}; `manage.py verify` says how."
    if line is None:
        return
    yield f"Audit line: {line['state']}, {line['reason'] or 'no reason given'}"
    for step in line["steps"]:
        yield f"  {step['key']:<24} {step['state']:<10} attempt {step['attempt']}"
    for (effect, state), amount in sorted(_counted(line["calls"]).items()):
        yield f"  {effect}: {of(amount, 'call')} {state}"


def _counted(calls: Sequence[Shown]) -> Counter[tuple[str, str]]:
    return Counter((call["effect"], call["state"]) for call in calls)


def lines_of_crew(hands: Sequence[Hand], *, now: datetime) -> Iterator[str]:
    if not hands:
        yield "No worker is alive. `manage.py cluster` (or `make run`) starts some."
    for hand in hands:
        yield f"{hand.id}  {hand.state:<9} {hand.host}/{hand.pid}  {_doing(hand, now)}"


def lines_of_recovery(found: Figures) -> Iterator[str]:
    if found.median is not None and found.maximum is not None:
        yield (
            f"{of(found.count, 'run')} taken over in 7 days: median {found.median:.2f} s, "
            f"longest {found.maximum:.2f} s until the next step's start"
        )


def _doing(hand: Hand, now: datetime) -> str:
    if hand.ended_at:
        return f"{hand.end_reason} {span(now - hand.ended_at)} ago"
    lease = hand.lease_until - now
    held = f"lease for {span(lease)}" if lease.total_seconds() > 0 else f"lease over {span(-lease)}"
    work = f"  {hand.run} at {hand.step}" if hand.run_id else ""
    return f"{held}  {size(hand.memory_kb * 1024)}{work}"


def _at(iso: str) -> str:
    """Seconds are enough for people; the JSON has the rest."""
    return f"{iso[:10]} {iso[11:19]} UTC"
