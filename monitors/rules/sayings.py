"""What a verdict says to people: one sentence of what is so, one of what to do."""

from dataclasses import dataclass
from datetime import datetime

from monitors.rules.states import MonitorKind, Verdict
from monitors.rules.verdicts import Breach, Facts, Judged
from runs.rules.words import span

SUBJECTS = {
    MonitorKind.OUTSIDE: "{name}",
    MonitorKind.RUN: "Run {name}",
    MonitorKind.SCHEDULE: "Schedule {name}",
    MonitorKind.WORKER: "Worker {name}",
    MonitorKind.WATCH: "The watch",
    MonitorKind.CLUSTER: "The cluster",
}
ALIVE = "Nothing to do."
REPORTED = "Look into its own log; it said itself that it failed."
SLOW = {
    Breach.PROGRESS: (
        "Look at its step: it may wait for something outside, or go round in circles. "
        "Nothing was changed; pause or cancel it if it should not go on."
    ),
    Breach.TOO_LONG: (
        "Let it go on, or pause or cancel it. If it may take this long, raise "
        "heartbeat's longest, or have the step say run.extend(...)."
    ),
    Breach.LEASE: (
        "Look at the way from that machine to the database: it beats, but it cannot renew its lease. "
        "Its work is taken over when the lease is over."
    ),
}
CUT_OFF = (
    "Do not restart it: it works. Look at the way from that machine to {site}: a firewall, a proxy, "
    "a name that does not resolve. Its beats are kept there and delivered later."
)
SILENT = {
    MonitorKind.OUTSIDE: "Look whether it still runs, where it runs, and what it last logged.",
    MonitorKind.RUN: (
        "Look at its worker: is the machine up, does the process run? A lost run is taken over by "
        "another worker by itself; if none takes it, start one."
    ),
    MonitorKind.WORKER: (
        "Look at the machine and at the cluster's log there. What it held is placed again by itself; "
        "see that other workers are there to take it."
    ),
    MonitorKind.CLUSTER: "Nothing is executed: start the cluster again (manage.py cluster), or look at its log.",
    MonitorKind.WATCH: "Start the watch again (manage.py watch), or look at its log.",
}
LATE_START = {
    MonitorKind.RUN: "See that a worker is free that knows its workflow: manage.py workers list.",
    MonitorKind.SCHEDULE: "See that the watch runs, and that a worker is free to begin its runs.",
}
BLIND = "Nobody was judged meanwhile, and everybody has a full period to be heard again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    sentence: str
    advice: str


def said(judged: Judged, facts: Facts, *, kind: MonitorKind, name: str, site: str = "") -> Said:
    """The text of a verdict, with both facts in it."""
    who = SUBJECTS[kind].format(name=name)
    match judged.verdict:
        case Verdict.ALIVE if judged.breach is Breach.FAILED:
            return Said(sentence=f"{who} reported a failure.", advice=REPORTED)
        case Verdict.SLOW:
            return Said(sentence=_slow(who, judged, facts), advice=SLOW[judged.breach])
        case Verdict.CUT_OFF:
            return Said(
                sentence=_cut_off(who, facts), advice=CUT_OFF.format(site=site or "the pages")
            )
        case Verdict.SILENT:
            return _silent(who, judged, facts, kind=kind)
    return Said(sentence=f"{who} is alive.", advice=ALIVE)


def blind(*, since: datetime, until: datetime | None, because: str) -> Said:
    """From when until when nobody could see, and why."""
    if until is None:
        return Said(
            sentence=f"Blind since {_at(since)}: {because}.",
            advice="Start the pages again, or look at their log. Until then nobody is called silent.",
        )
    lasted = span(until - since)
    return Said(
        sentence=f"Blind from {_at(since)} to {_at(until)} ({lasted}): {because}.", advice=BLIND
    )


def _slow(who: str, judged: Judged, facts: Facts) -> str:
    since = span(facts.now - judged.since)
    if judged.breach is Breach.LEASE:
        unrenewed = span(facts.now - facts.lived_at) if facts.lived_at else "some time"
        return f"{who} beats, but has not renewed its lease for {unrenewed}."
    if judged.breach is Breach.TOO_LONG:
        return f"{who} beats, and has been at it for {since} longer than it should."
    stuck = span(facts.now - facts.progress_at) if facts.progress_at else since
    allowed = f"; {span(facts.progress_limit)} are allowed" if facts.progress_limit else ""
    return f"{who} beats, but has made no progress for {stuck}{allowed}."


def _cut_off(who: str, facts: Facts) -> str:
    signs = [at for at in (facts.lived_at, facts.progress_at) if at is not None]
    seen = span(facts.now - max(signs)) if signs else "a while"
    return (
        f"{who} is cut off: {_last_beat(facts)}, but the database has heard of it {seen} ago. "
        "It works and cannot reach the monitor."
    )


def _silent(who: str, judged: Judged, facts: Facts, *, kind: MonitorKind) -> Said:
    if judged.breach is Breach.LATE_START:
        advice = LATE_START.get(kind, LATE_START[MonitorKind.RUN])
        sentence = f"{who} should have begun by {_at(judged.since)} and has not."
        return Said(sentence=sentence, advice=advice)
    advice = SILENT.get(kind, SILENT[MonitorKind.OUTSIDE])
    if judged.breach is Breach.TOO_LONG:
        return Said(sentence=f"{who} began and did not end in time.", advice=advice)
    if facts.lives is None:
        return Said(sentence=f"{who} is silent: {_last_beat(facts)}.", advice=advice)
    return Said(
        sentence=f"{who} is silent: {_last_beat(facts)}, and the database shows no sign of it either.",
        advice=advice,
    )


def _last_beat(facts: Facts) -> str:
    if facts.heard_at is None:
        return "no beat has come yet"
    return f"no beat for {span(facts.now - facts.heard_at)}"


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
