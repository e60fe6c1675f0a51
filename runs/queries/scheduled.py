"""Stored schedules measured against the workflows as this process knows them."""

from collections.abc import Iterator, Mapping

from django.db import connection
from django.db.models import Count, Q

from runs.definition import registry
from runs.definition.registry import UnknownWorkflow
from runs.models import Schedule
from runs.queries.clock import db_now
from runs.queries.schedules import visible_schedules, wish_of
from runs.rules import inputs
from runs.rules.certificate import Scheduled
from runs.rules.policy import Actor
from runs.rules.schedules import refusals

MOST = 1000


def refused_schedules() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Those that would be refused now, with the reasons by field; none before the first migration."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return
    due = Schedule.objects.filter(removed_at=None, next_at__isnull=False)
    for schedule in due.order_by("slug", "pk")[:MOST]:
        if errors := why_refused(schedule):
            yield schedule.slug, errors


def why_refused(schedule: Schedule) -> dict[str, str]:
    wish = wish_of(schedule)
    try:
        name, version = schedule.workflow, schedule.version
        workflow = registry.chosen(name, version)
    except UnknownWorkflow as unknown:
        return {"workflow": str(unknown)}
    errors = refusals(wish, heartbeat=workflow.heartbeat, now=db_now())
    try:
        inputs.validated(workflow, dict(wish.data))
    except inputs.InvalidInput as invalid:
        errors |= {f"input.{field}": error for field, error in invalid.errors.items()}
    return errors


def schedules_of(actor: Actor, workflow: str) -> tuple[Scheduled, ...]:
    """What a certificate says of a workflow's schedules."""
    rows = visible_schedules(actor).filter(workflow=workflow).order_by("slug", "pk")
    counted = rows.annotate(
        fired=Count("firings"), begun=Count("firings", filter=Q(firings__run__isnull=False))
    )
    return tuple(
        Scheduled(
            slug=row.slug,
            overlap=row.overlap,
            fired=row.fired,
            started=row.begun,
            refused=tuple(why_refused(row).values()),
        )
        for row in counted[:MOST]
    )
