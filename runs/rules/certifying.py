"""Asks the ten questions of a plan: what its declarations, its last drill and the database answer."""

from collections.abc import Callable, Iterable, Iterator

from runs.rules.certificate import Answer, Certificate, Evidence, Known, Question, Waiver
from runs.rules.plan import Plan, PlanEffect, PlanStep
from runs.rules.words import of, span

# Whose fault a broken invariant is; what is named nowhere counts against the audit.
ASKED_BY = {
    "I1": "state",
    "I8": "state",
    "I5": "completion",
    "I6": "completion",
    "R2": "completion",
    "R3": "completion",
    "I4": "keys",
    "I7": "keys",
    "I2": "entry",
    "R14": "entry",
    "I10": "policies",
    "I11": "policies",
    "I13": "policies",
    "I3": "scheduling",
    "R27": "scheduling",
    "I9": "version",
}


def certificate_of(known: Known, *, made_at: str) -> Certificate:
    """Ask the ten questions."""
    plan = known.plan
    return Certificate(
        name=plan.name,
        version=plan.version,
        plan_hash=plan.hash,
        made_at=made_at,
        questions=tuple(
            Question(id=key, question=text, evidence=(*look(known), *_broken(known, key)))
            for key, text, look in QUESTIONS
        ),
        waivers=tuple(_waivers(plan)),
        code={step.key: step.code_digest for step in plan.steps},
    )


def _waivers(plan: Plan) -> Iterator[Waiver]:
    for step in plan.steps:
        if step.approval and step.approval.waived:
            effects = tuple(effect.name for effect in step.effects if effect.irreversible)
            yield Waiver(step=step.key, effects=effects, reason=step.approval.waived)


def _passes(text: str, about: str = "") -> Evidence:
    return Evidence(answer=Answer.PASS, text=text, about=about)


def _fails(text: str, about: str = "") -> Evidence:
    return Evidence(answer=Answer.FAIL, text=text, about=about)


def _unknown(text: str, about: str = "") -> Evidence:
    return Evidence(answer=Answer.UNKNOWN, text=text, about=about)


# What has been shown by a drill, or by runs


def _drilled(known: Known, what: str) -> Evidence | None:
    """None when there is a drill to look at."""
    if known.drill is not None:
        return None
    return _unknown(f"{what}: run `manage.py drill {known.plan.name}`.")


def _broken(known: Known, question: str) -> Iterator[Evidence]:
    """What the drill broke of it, or `verify` found in runs of this plan."""
    for each in known.drill.violations if known.drill else ():
        if ASKED_BY.get(each.invariant, "audit") == question:
            text = f"The drill broke {each.invariant}: {each.text}"
            yield _fails(text, f"drill:{known.drill_id}")
    for each in known.recorded.violations:
        if ASKED_BY.get(each.invariant, "audit") == question:
            yield _fails(f"A run breaks {each.invariant}: {each.text}", f"run:{each.run}")


def _observed(known: Known, *, files_only: bool) -> Iterator[Evidence]:
    for seen in known.drill.undeclared if known.drill else ():
        if not files_only or "file" in seen.what:
            lacking = "neither an effect nor files=" if "file" in seen.what else "no effect"
            yield _fails(f"{seen.sentence}, and declares {lacking}.", f"step:{seen.step}")


# 1. Steps


def _steps(known: Known) -> Iterator[Evidence]:
    for step in known.plan.steps:
        yield _passes(
            f"{step.key} reads {_listed(step.reads)}, writes {_listed(step.writes)}, "
            f"calls {_listed(effect.name for effect in step.effects)}.",
            f"step:{step.key}",
        )
    if missing := _drilled(known, "What the steps really do has not been watched"):
        yield missing
        return
    yield from _observed(known, files_only=False)
    if known.drill and not known.drill.undeclared:
        yield _passes(
            "Watched in a drill, no step did anything that it does not declare.",
            f"drill:{known.drill_id}",
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


# 2. State


def _state(known: Known) -> Iterator[Evidence]:
    plan = known.plan
    yield _passes(f"The input ({_listed(f.name for f in plan.input_fields)}) is kept with the run.")
    for step in plan.steps:
        if step.writes:
            yield _passes(
                f"{_listed(step.writes)}: facts, committed with the end of {step.key}.",
                f"step:{step.key}",
            )
        if step.files:
            yield _passes(f"{step.key} keeps files of its own: “{step.files}”", f"step:{step.key}")
    if missing := _drilled(known, "Whether a step keeps anything elsewhere has not been watched"):
        yield missing
        return
    yield from _observed(known, files_only=True)
    yield _survived(known)


def _survived(known: Known) -> Evidence:
    """Whether the drill's kills changed anything."""
    drill, about = known.drill, f"drill:{known.drill_id}"
    if drill is None:
        return _unknown(f"No drill has been made: run `manage.py drill {known.plan.name}`.")
    if not drill.kills:
        again = f"manage.py drill {known.plan.name} --matrix"
        return _unknown(f"The last drill killed nothing: run `{again}`.", about)
    if drill.violations:
        return _unknown("The last drill failed, so it shows nothing here.", about)
    struck = f"{of(drill.kills, 'kill')} and {of(len(drill.resumes), 'resume')}"
    return _passes(f"Under {struck} in a drill, every invariant held.", about)


# 3. Completion


def _completion(known: Known) -> Iterator[Evidence]:
    for step in known.plan.steps:
        about = f"step:{step.key}"
        if step.transactional:
            yield _passes(f"{step.key}: its writes and its end are one commit.", about)
        for effect in step.effects:
            yield _passes(f"{step.key}: {effect.name} is reconciled by {_settled(effect)}.", about)
        if not step.transactional and not step.effects:
            yield _passes(f"{step.key} calls nothing; its facts and its end are one commit.", about)
    if missing := _drilled(known, "Whether an effect and its record part ways under kills"):
        yield missing
        return
    yield from _counted(known)


def _settled(effect: PlanEffect) -> str:
    if effect.has_contract:
        return f"its contract ({_window(effect)})"
    return "its probe" if effect.has_probe else "a person, who is asked whether it happened"


def _window(effect: PlanEffect) -> str:
    return "for ever" if effect.window is None else f"within {span(effect.window)}"


def _counted(known: Known) -> Iterator[Evidence]:
    drill, about = known.drill, f"drill:{known.drill_id}"
    if drill is None:
        return
    counted = f"{of(drill.effects, 'effect')} at the receiver under {of(drill.keys, 'key')}"
    if drill.duplicates:
        yield _fails(f"{counted}: {of(drill.duplicates, 'duplicate')}.", about)
    else:
        yield _passes(f"{counted}, no duplicate.", about)


# 4. Keys


def _keys(known: Known) -> Iterator[Evidence]:
    calling = [step for step in known.plan.steps if step.effects]
    if not calling:
        yield _passes("No step calls anything outside.")
    for step in calling:
        for effect in step.effects:
            yield _key(step, effect)
    for waiver in _waivers(known.plan):
        yield _passes(
            f"{waiver.step}: nobody is asked about {_listed(waiver.effects)}, waived in writing: "
            f"“{waiver.reason}”",
            f"step:{waiver.step}",
        )


def _key(step: PlanStep, effect: PlanEffect) -> Evidence:
    key = f"{step.key}: the key of {effect.name} is made from run, step, resource and request"
    undone = "" if not effect.irreversible else "; it cannot be undone"
    if effect.has_contract:
        return _passes(
            f"{key}; “{effect.contract}”, {_window(effect)}{undone}.", f"step:{step.key}"
        )
    if effect.has_probe:
        return _passes(f"{key}, by which a probe can look it up{undone}.", f"step:{step.key}")
    return _fails(
        f"{key}, but its receiver neither promises to recognise it nor can be asked: "
        "give the effect a contract= or a probe=.",
        f"step:{step.key}",
    )


# 5. Entry


def _entry(known: Known) -> Iterator[Evidence]:
    yield _passes("A start under a start key that was used before answers with that same run.")
    yield _passes("A finished step is not entered again; an open one goes on at its last page.")
    if missing := _drilled(known, "Whether a step may be entered a second time"):
        yield missing
        return
    yield _survived(known)


# 6. Policies


def _policies(known: Known) -> Iterator[Evidence]:
    yield _passes("Resume: at the first step that is not finished, from its last checkpoint.")
    for step in known.plan.steps:
        late = f", {span(step.timeout)} at most each time" if step.timeout else ""
        yield _passes(
            f"{step.key}: tried {of(step.retry.attempts, 'time')}{late}, then {step.on_exhausted}.",
            f"step:{step.key}",
        )
    yield from _overlaps(known)


def _overlaps(known: Known) -> Iterator[Evidence]:
    """What happens when one run is due while another is still going."""
    if not known.recorded.schedules:
        yield _passes("Overlap: no schedule starts it, and none is made without an overlap policy.")
    for each in known.recorded.schedules:
        yield _passes(f"Overlap: schedule {each.slug} says {each.overlap}.")
        for error in each.refused:
            yield _fails(f"Schedule {each.slug}: {error}")


# 7. Heartbeat


def _heartbeat(known: Known) -> Iterator[Evidence]:
    beat = known.plan.heartbeat
    if beat is None:
        yield _fails(
            "No heartbeat is declared: write heartbeat = Heartbeat(every=..., grace=..., "
            "progress=...) in the workflow."
        )
        return
    progress = f", progress within {span(beat.progress)}" if beat.progress else ""
    yield _passes(f"Every {span(beat.every)}, with a grace of {span(beat.grace)}{progress}.")
    yield _passes(
        f"A monitor of its own watches it while it runs: silent for {span(beat.every + beat.grace)}, "
        "it raises an alert, and people are told by the channels that it takes."
    )
    for limit, said in ((beat.starts_within, "begins late"), (beat.longest, "takes too long")):
        if limit is not None:
            yield _passes(f"It raises an alert when it {said}: {span(limit)} are allowed.")


# 8. Scheduling


def _scheduling(known: Known) -> Iterator[Evidence]:
    yield _passes("To start, to resume or to wake a run is to place one row; a worker claims it.")
    for each in known.recorded.schedules:
        times = of(each.fired, "due time of", "due times of")
        yield _passes(
            f"Schedule {each.slug} only places: each of {times} it has one row with what became "
            f"of it, and {of(each.started, 'run')} came of them."
        )
    if missing := _drilled(known, "Whether a message that comes twice changes anything"):
        yield missing
        return
    about = f"drill:{known.drill_id}"
    if known.drill and known.drill.redeliveries:
        redelivered = of(known.drill.redeliveries, "message was", "messages were")
        yield _passes(f"{redelivered} delivered twice in the drill, and worked on once.", about)
    else:
        yield _unknown(
            "The last drill delivered no message twice: run "
            f"`manage.py drill {known.plan.name} --redeliver`.",
            about,
        )


# 9. Version


def _version(known: Known) -> Iterator[Evidence]:
    plan, recorded = known.plan, known.recorded
    yield _passes(f"Version {plan.version}, plan {plan.hash[:12]}: stamped on run and checkpoint.")
    yield _passes("A worker claims only runs whose plan its code can execute.")
    if recorded.stored_hash not in (None, plan.hash):
        yield _fails(
            f"Runs of version {plan.version} were started with another plan, "
            f"{(recorded.stored_hash or '')[:12]}: give the changed plan the next version."
        )
    if recorded.stranded:
        stranded = of(recorded.stranded, "open run")
        yield _fails(
            f"This code can take {stranded} along only if a person says how: "
            "see `manage.py workflows preflight`."
        )


# 10. Audit


def _audit(known: Known) -> Iterator[Evidence]:
    recorded, drill = known.recorded, known.drill
    compared = "chains, closing lines and tables were compared"
    if recorded.verified:
        yield _passes(f"Of the last {of(recorded.verified, 'run')}, {compared}.")
    if drill is not None and drill.runs:
        yield _passes(f"Of {of(drill.runs, 'drilled run')}, {compared}.", f"drill:{known.drill_id}")
    elif not recorded.verified:
        yield _unknown(
            "No run of this plan has been made that could be verified: start one, or "
            f"run `manage.py drill {known.plan.name}`."
        )


QUESTIONS: tuple[tuple[str, str, Callable[[Known], Iterator[Evidence]]], ...] = (
    ("steps", "Does each step say what it reads, writes and calls?", _steps),
    ("state", "Does all state live where a crash cannot reach it?", _state),
    ("completion", "Is a step's end one commit with its effect, or reconciled?", _completion),
    ("keys", "Has every call a stable key, and a contract or a probe?", _keys),
    ("entry", "May it be started, and a step entered, a second time?", _entry),
    ("policies", "Are resume, overlap and retry decided beforehand?", _policies),
    ("heartbeat", "Is somebody told, after a grace, when it falls silent?", _heartbeat),
    ("scheduling", "Is scheduling apart from the work?", _scheduling),
    ("version", "Is each run stamped with a version, and kept from other code?", _version),
    ("audit", "Is the audit complete?", _audit),
)
