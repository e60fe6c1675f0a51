"""Check all that can be checked on a database: every invariant that its rows can show."""

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from uuid import UUID

from django.db import Error, transaction

from runs.models import Run
from runs.queries.verify_calls import calls_hold
from runs.queries.verify_chain import chain_holds, line_equals_tables, tenant_chains_hold
from runs.queries.verify_checkpoints import checkpoints_hold
from runs.queries.verify_database import guards_are_there, plans_are_kept, rows_have_their_runs
from runs.queries.verify_files import files_are_there
from runs.queries.verify_lineage import lineage_holds
from runs.queries.verify_plans import calls_were_allowed, plans_are_sealed
from runs.queries.verify_schedules import firings_hold, schedules_hold
from runs.queries.verify_selections import selections_hold
from runs.queries.verify_standing import fences_are_in_order, stands_by_one_thing
from runs.queries.verify_steps import (
    input_is_kept,
    one_result_each,
    order_is_the_plans,
    results_are_kept,
)
from runs.queries.verify_subject import AT_ONCE, Check, Subject, subject_of, unmoved
from runs.queries.verify_waits import (
    events_are_kept,
    events_were_used_once,
    waits_were_closed_once,
)
from runs.rules.violations import Violation

log = logging.getLogger(__name__)

AppsCheck = Callable[[UUID], Iterable[Violation]]
DatabaseCheck = Callable[[], Iterable[Violation]]

OF_A_RUN: tuple[Check, ...] = (
    input_is_kept,
    one_result_each,
    results_are_kept,
    order_is_the_plans,
    checkpoints_hold,
    stands_by_one_thing,
    fences_are_in_order,
    waits_were_closed_once,
    events_were_used_once,
    calls_hold,
    calls_were_allowed,
    plans_are_sealed,
    chain_holds,
    line_equals_tables,
    lineage_holds,
)
OF_THE_DATABASE = (
    guards_are_there,
    plans_are_kept,
    rows_have_their_runs,
    tenant_chains_hold,
    events_are_kept,
    firings_hold,
    schedules_hold,
    selections_hold,
)
# A check that finds more than this in one run has said enough.
MOST_A_CHECK = 20
LOOKS = 5

_of_other_apps: list[AppsCheck] = []
_of_other_apps_tables: list[DatabaseCheck] = []


def register(check: AppsCheck) -> None:
    """Let another app check its own rows about a run, whenever that run is checked."""
    if check not in _of_other_apps:
        _of_other_apps.append(check)


def register_for_database(check: DatabaseCheck) -> None:
    """Let another app check those of its rows that are no run's, whenever the database is checked."""
    if check not in _of_other_apps_tables:
        _of_other_apps_tables.append(check)


def violations(run_ids: Iterable[UUID] | None = None, *, files: bool = False) -> list[Violation]:
    """Everything that is wrong; with `run_ids`, only in these runs and in the database's guards."""
    return list(each_violation(run_ids, files=files))


def each_violation(
    run_ids: Iterable[UUID] | None = None, *, files: bool = False
) -> Iterator[Violation]:
    """The same, one by one; a run at a time is in memory. `files` reads every artifact too."""
    if run_ids is None:
        checks = (*OF_THE_DATABASE, *_of_other_apps_tables)
        yield from chain.from_iterable(islice(check(), MOST_A_CHECK) for check in checks)
    else:
        yield from guards_are_there()
    for run_id in _every_run() if run_ids is None else run_ids:
        yield from _in_run(run_id, files=files)


def _every_run() -> Iterator[UUID]:
    last = UUID(int=0)
    while ids := list(
        Run.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:AT_ONCE]
    ):
        yield from ids
        last = ids[-1]


def _in_run(run_id: UUID, *, files: bool) -> list[Violation]:
    """Look again when the run was written meanwhile: between two reads it is two different runs."""
    for _ in range(LOOKS):
        subject = subject_of(run_id)
        if subject is None:
            return []
        found = _found(subject, files=files)
        if not found or unmoved(subject):
            return found
    with transaction.atomic():
        # A run that never stands still is held still; NO KEY, as everywhere (R18).
        Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()
        subject = subject_of(run_id)
        return _found(subject, files=files) if subject else []


def _found(subject: Subject, *, files: bool) -> list[Violation]:
    checks = (*OF_A_RUN, files_are_there) if files else OF_A_RUN
    found = [violation for check in checks for violation in _said_by(check, subject)]
    for check in _of_other_apps:
        found.extend(islice(check(subject.run.pk), MOST_A_CHECK))
    return found


def _said_by(check: Check, subject: Subject) -> list[Violation]:
    found: list[Violation] = []
    try:
        found.extend(islice(check(subject), MOST_A_CHECK))
    except Error:
        raise
    # The rim: rows so damaged that a check cannot read them are what it was looking for.
    except Exception as error:
        log.exception("verify.unreadable", extra={"run": str(subject.run.pk)})
        text = f"{check.__name__} could not read it: {type(error).__name__}: {error}"
        found.append(subject.violates("I12", text))
    return found
