"""What runs, schedules, the outbox and drills have to say on the first page."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from django.urls import reverse

from runs.queries import drills, pages_channels, pages_needs, pages_outbox, pages_schedules
from runs.rules.policy import Actor, Verb, may
from runs.web.needs import Need, register


def register_all() -> None:
    register("failed runs", failed_runs, count=count_of_failed)
    register("schedules that start nothing", idle_schedules)
    register("what is stuck in the outbox", stuck_messages)
    register("failed drills", failed_drills)
    register("channels that reach nobody", dead_channels)


def failed_runs(actor: Actor) -> Sequence[Need]:
    return [
        _broken(
            actor,
            key=f"run-{run.pk}",
            sentence=f"{run.reference} failed in step {run.step}: {run.reason}",
            url=reverse("runs:run_show", args=[run.pk]),
            since=run.updated_at,
            workflow=run.workflow,
            owner=f"started by {run.started_by}",
        )
        for run in pages_needs.stopped(actor)
    ]


def count_of_failed(actor: Actor) -> int:
    return pages_needs.count_of_failed(actor) if may(actor, Verb.OPERATE) else 0


def idle_schedules(actor: Actor) -> Sequence[Need]:
    return [
        _broken(
            actor,
            key=f"schedule-{one.pk}",
            sentence=f"{one.slug}: {one.skips} due times in a row came to nothing",
            url=reverse("runs:schedule_show", args=[one.pk]),
            since=one.updated_at,
            workflow=one.workflow,
        )
        for one in pages_schedules.incidents(actor)
    ]


def stuck_messages(actor: Actor) -> Sequence[Need]:
    return [_stuck(item, actor) for item in pages_outbox.stuck(actor)]


def _stuck(item: pages_outbox.Item, actor: Actor) -> Need:
    message = item.message
    run = message.run
    return _broken(
        actor,
        key=f"stuck-{message.pk}",
        sentence=f"Stuck in the outbox: {item.what}, tried {message.attempts} times. {message.error}",
        url=f"{reverse('runs:outbox')}?lane={quote(message.lane)}",
        since=message.stuck_at or message.created_at,
        workflow=run.workflow if run else "",
        about=run.reference if run else "",
        about_url=reverse("runs:run_show", args=[run.pk]) if run else "",
    )


def failed_drills(actor: Actor) -> Sequence[Need]:
    return [
        _broken(
            actor,
            key=f"drill-{drill.pk}",
            sentence=f"A drill failed: {drill.sentence}",
            url=reverse("runs:drill_show", args=[drill.pk]),
            since=drill.ended_at or drill.started_at,
            workflow=drill.workflow,
        )
        for drill in drills.failing(actor)
    ]


def dead_channels(actor: Actor) -> Sequence[Need]:
    dead = [
        _broken(
            actor,
            verb=Verb.ADMINISTER,
            key=f"channel-{row.channel.pk}",
            sentence=f"The channel {row.channel.name} reaches nobody: {row.channel.last_error}",
            url=reverse("runs:channel_show", args=[row.channel.pk]),
            since=row.channel.dead_at or row.channel.updated_at,
        )
        for row in pages_channels.failing(actor)
    ]
    mail = pages_channels.mail_that_does_not_leave(actor)
    if mail is not None:
        error = f"Mail does not leave: one notice was tried {mail.attempts} times. {mail.error}"
        url = f"{reverse('runs:outbox')}?lane=mail"
        told = {"key": "channel-mail", "sentence": error, "url": url, "since": mail.created_at}
        dead.append(_broken(actor, verb=Verb.ADMINISTER, **told))
    return dead


def _broken(actor: Actor, *, verb: Verb = Verb.OPERATE, **told: Any) -> Need:
    """What goes wrong until somebody with this right looks at it."""
    yours = may(actor, verb)
    return Need(family="failed", glyph="failed", action="Look", yours=yours, **told)
