"""What `manage.py check` says of workflows: each problem with file, line, and what to write instead."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection

from runs.definition import gates, registry
from runs.definition.workflow import Workflow
from runs.dispatch import demands
from runs.engine import secrets
from runs.rules import declarations
from runs.rules.plan import Plan, plan_of
from runs.rules.redaction import SHORTEST_WORD
from runs.rules.states import WaitKind

_LEVELS = {"error": checks.ERROR, "warning": checks.WARNING, "info": checks.INFO}
_everything: ContextVar[bool] = ContextVar("everything", default=False)


@contextmanager
def everything() -> Iterator[None]:
    """Warnings and remarks too: for `check` itself. Other commands would repeat them each time."""
    token = _everything.set(True)
    try:
        yield
    finally:
        _everything.reset(token)


@checks.register("workflows")
def modules_can_be_imported(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Every module of workflows that discovery could not import."""
    return [
        checks.Error(failure.message, hint=failure.hint, obj=failure.place, id="runs.E001")
        for failure in registry.failures()
    ]


@checks.register("workflows")
def declarations_hold(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Everything that the registered workflows got wrong."""
    found = {
        problem: None
        for workflow in registry.all_workflows()
        for problem in declarations.problems(workflow, longest_step=_longest_step())
        if problem.level == "error" or _everything.get()
    }
    return [
        checks.CheckMessage(
            _LEVELS[problem.level],
            problem.message,
            hint=problem.hint,
            obj=problem.place,
            id=problem.id,
        )
        for problem in found
    ]


@checks.register("workflows")
def plans_are_the_stored_ones(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Every workflow whose runs were started under the same version with another plan."""
    with _connection_left_as_found():
        try:
            return [*_changed_plans()]
        except DatabaseError:
            # Nothing is stored before the first migration, nor known while the database is away.
            return []


@checks.register("workflows")
def every_wait_is_answered_for(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Every kind of wait for which no gate is registered: runs would wait for ever."""
    return [
        checks.Error(
            f"Nobody answers for waits of kind {kind.value!r}: no gate is registered.",
            hint="Install the app whose AppConfig.ready() registers it with "
            "runs.definition.gates.register(...); `approvals` answers for decisions.",
            id="runs.E023",
        )
        for kind in WaitKind
        if kind.value not in gates.registered()
    ]


@checks.register("workflows")
def schedules_can_fire(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Every stored schedule that the form would refuse with the workflows as they are now."""
    with _connection_left_as_found():
        try:
            return [*_refused_schedules()]
        except DatabaseError:
            return []


@checks.register("workflows")
def secrets_can_be_taken_out(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Every secret that is so short that errors, logs and answers would show it (R11)."""
    return [
        checks.Warning(
            f"The secret “{name}” has less than {SHORTEST_WORD} characters: it is not taken out of "
            "what is kept, logged and shown.",
            hint="Use a longer one.",
            id="runs.W029",
        )
        for name in secrets.too_short()
        if _everything.get()
    ]


def _refused_schedules() -> Iterator[checks.CheckMessage]:
    from runs.queries.scheduled import refused_schedules

    for named, errors in refused_schedules():
        for field, error in errors.items():
            yield checks.Error(
                f"Schedule {named}: {field}: {error}",
                hint="Mend the workflow, or run `manage.py schedules change` or `remove`.",
                id="runs.E027",
            )


@checks.register("queue")
def the_queue_is_a_bell(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Everything in Q_CLUSTER under which django-q2 would be more than a bell; `cluster` refuses it too."""
    return [checks.Error(sentence, id="runs.E024") for sentence in demands.unmet()]


@checks.register("workflows")
def the_database_keeps_its_word(
    app_configs: Sequence[AppConfig] | None, *, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """Missing guards (R20) and settings that lose commits (R30).

    `migrate`, which makes guards again, names its database and is not kept from it.
    """
    if databases:
        return []
    with _connection_left_as_found():
        try:
            return [*_missing_guards(), *_doubts_about_commits()]
        except DatabaseError:
            return []


def _missing_guards() -> Iterator[checks.CheckMessage]:
    from runs.queries.guards import missing_guards

    if "runs_run" not in connection.introspection.table_names():
        return
    for name in missing_guards(connection):
        yield checks.Error(
            f"The database lacks the guard {name}.", hint="Run `manage.py migrate`.", id="runs.E025"
        )


def _doubts_about_commits() -> Iterator[checks.CheckMessage]:
    from runs.queries.durability import doubts

    for doubt in doubts():
        yield checks.Error(doubt, hint="See the database's settings.", id="runs.E026")


def _longest_step() -> timedelta | None:
    limit = getattr(settings, "Q_CLUSTER", {}).get("timeout")
    return timedelta(seconds=limit) if limit else None


def _changed_plans() -> Iterator[checks.CheckMessage]:
    from runs.queries import plans

    for workflow in registry.all_workflows():
        if _broken(workflow):
            continue
        stored = plans.stored_hash(workflow.name, workflow.version)
        if stored is not None and stored != plan_of(workflow).hash:
            yield checks.Error(
                f"{workflow.__name__}: version {workflow.version} of {workflow.name!r} has runs "
                "that were started with another plan.",
                hint=f"Put the old plan back, or number this one {workflow.version + 1} "
                "and leave the old class beside it until its runs have ended.",
                obj=workflow.place,
                id="runs.E022",
            )
        elif stored is not None and _everything.get():
            yield from _kept_as_they_were(workflow, plans.plan_by_hash(stored))


def _kept_as_they_were(workflow: type[Workflow], stored: Plan) -> Iterator[checks.CheckMessage]:
    """What no hash covers is read from the stored plan: changed code alone changes none of it."""
    for name in plan_of(workflow).differs_beside_its_hash(stored):
        yield checks.Warning(
            f"{workflow.__name__}: {name} is not what version {workflow.version} of "
            f"{workflow.name!r} was stored with; its runs keep the stored one.",
            hint=f"Number this one {workflow.version + 1}, or put the old value back.",
            obj=workflow.place,
            id="runs.W028",
        )


def _broken(workflow: type[Workflow]) -> bool:
    return any(problem.level == "error" for problem in declarations.problems(workflow))


@contextmanager
def _connection_left_as_found() -> Iterator[None]:
    # A command that forks after its checks must not hand one open connection to all its children.
    was_open = connection.connection is not None
    try:
        yield
    finally:
        if not was_open and not connection.in_atomic_block:
            connection.close()
