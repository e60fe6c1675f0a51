"""Every address there is, and an object of a tenant for each of its parameters."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.contrib.auth.models import Group, User
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from approvals.ledger import delegating, rule_book
from approvals.ledger.rule_book import Terms
from approvals.models import Batch, Decision, Record
from runs.ledger import drills, event_keys, noting, saved_views, schedules, selecting, waking
from runs.models import Artifact, Call, Event, Membership, Message, Tenant, Worker
from runs.queries.clock import db_now
from runs.rules.schedules import Wish
from runs.rules.together import Together
from tests.approvals.builders import a_decision, a_person, acting, decide
from tests.dashboard.builders import start, work
from tests.dashboard.monitored import Monitored
from tests.dashboard.test_drill_pages import kept
from tests.drills.test_report import a_report
from tests.support import runs
from tests.telling.builders import a_row

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One line of a urlconf; `view` is its name with its namespace."""

    view: str
    route: str
    exempt: bool

    @property
    def parameters(self) -> list[str]:
        return PARAMETER.findall(self.route)

    def url(self, examples: "Examples") -> str:
        return reverse(
            self.view, kwargs={each: examples.of(self, each) for each in self.parameters}
        )


def addresses() -> list[Address]:
    return list(_under(get_resolver(), route="", space=""))


def _under(resolver: URLResolver, *, route: str, space: str) -> Iterator[Address]:
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver):
            inner = f"{space}{one.namespace}:" if one.namespace else space
            yield from _under(one, route=route + str(one.pattern), space=inner)
        elif isinstance(one, URLPattern):
            yield Address(
                view=f"{space}{one.name}",
                route=f"/{route}{one.pattern}",
                exempt=bool(getattr(one.callback, "csrf_exempt", False)),
            )


class NoExample(LookupError):
    """A parameter of an address has no example here; add one to Examples.made."""


class Examples:
    """One object of the tenant `default` for each parameter; made once, when it is asked for."""

    def of(self, address: Address, parameter: str) -> Any:
        for known in (f"{address.view}:{parameter}", parameter):
            if known in self.made:
                return self.made[known]()
        raise NoExample(
            f"{address.route} ({address.view}) has a parameter {parameter!r}: make an example of it "
            "in tests/dashboard/addresses.py, so that its pages are crawled too."
        )

    @cached_property
    def made(self) -> Mapping[str, Callable[[], Any]]:
        """By parameter, or by view and parameter where one name means several things."""
        return {
            "run_id": lambda: self.opened.run_id,
            "key": lambda: "propose",
            "which": lambda: "out",
            "runs:undo:run_id": lambda: self.called.run_id,
            "runs:undo:key": lambda: self.called.key,
            "decision_id": lambda: self.opened.pk,
            "wait_id": lambda: self.opened.wait_id,
            "ordinal": lambda: 1,
            "approvals:record_show:decision_id": lambda: self.closed.pk,
            "record_id": lambda: Record.objects.get(decision=self.closed).pk,
            "runs:artifact_show:run_id": lambda: self.file.run_id,
            "artifact_id": lambda: self.file.pk,
            "note_id": lambda: self.note_id,
            "handle": lambda: self.handle,
            "event_id": lambda: self.event.pk,
            "runs:event_receive:name": lambda: "order.paid",
            "message_id": lambda: Message.objects.filter(run=self.opened.run_id)[0].pk,
            "worker_id": lambda: Worker.objects.all()[0].pk,
            "name": lambda: "example_artifact",
            "version": lambda: 1,
            "schedule_id": lambda: self.schedule_id,
            "drill_id": lambda: self.drill_id,
            "runs:drill_stop:drill_id": lambda: self.drill_under_way,
            "person_id": lambda: self.person.pk,
            "channel_id": lambda: self.channel_id,
            "rule_id": lambda: self.rule_id,
            "batch_id": lambda: self.batch_id,
            "selection_id": lambda: self.selection_id,
            "view_id": lambda: self.view_id,
            "delegation_id": lambda: self.delegation_id,
            "who": lambda: "MQ",
            "token": lambda: "no-token",
            **Monitored().made,
        }

    @cached_property
    def person(self) -> User:
        person = a_person("paula", email="paula@example.org")
        Membership.objects.create(tenant=runs.the_tenant(), user=person)
        return person

    @cached_property
    def closed(self) -> Decision:
        decision = a_decision()
        decide(acting(self.person), decision)
        return decision

    @cached_property
    def opened(self) -> Decision:
        assert self.person.email, "whoever may answer is told, so that there is a message"
        return a_decision()

    @cached_property
    def file(self) -> Artifact:
        run_id = start("example_artifact")
        work()
        return Artifact.objects.get(run_id=run_id)

    @cached_property
    def called(self) -> Call:
        run_id = start("wire", behaves="")
        work()
        return Call.objects.filter(run_id=run_id)[0]

    @cached_property
    def note_id(self) -> int:
        return noting.note(runs.the_operator(), self.opened.run_id, text="Look here.").pk

    @cached_property
    def handle(self) -> str:
        tenant_id = runs.the_tenant().pk
        return event_keys.add(
            runs.the_operator(), tenant_id=tenant_id, name="shop", events=[]
        ).handle

    @cached_property
    def event(self) -> Event:
        tenant_id = runs.the_tenant().pk
        waking.deliver_event(
            tenant_id=tenant_id,
            name="order.paid",
            correlation_id="order-7",
            message_id="m-1",
            payload={},
            source="tests",
        )
        return Event.objects.get()

    @cached_property
    def schedule_id(self) -> int:
        wish = Wish(slug="nightly", workflow="sync", cron="0 2 * * *", overlap="skip")
        return schedules.create(runs.the_operator(), wish).pk

    @cached_property
    def drill_id(self) -> Any:
        return kept(a_report())

    @cached_property
    def drill_under_way(self) -> Any:
        runs.the_tenant()
        return drills.begin(runs.the_operator(), workflow="ten_steps", command="drill ten_steps")

    @cached_property
    def channel_id(self) -> int:
        return a_row(tenant=runs.the_tenant()).pk

    @cached_property
    def rule_id(self) -> int:
        terms = Terms(
            workflow="refunds",
            step="settle",
            effect="shop.refund",
            conditions="amount <= 100",
            most=2,
            ends_at=db_now() + timedelta(days=30),
            because="Small refunds are taken back easily.",
        )
        tenant_id = runs.the_tenant().pk
        return rule_book.write(
            runs.the_operator(), tenant_id=tenant_id, name="small refunds", terms=terms
        ).pk

    @cached_property
    def batch_id(self) -> int:
        return Batch.objects.create(
            tenant=runs.the_tenant(), shape="", by="tests", option="yes", amount=0, at=db_now()
        ).pk

    @cached_property
    def selection_id(self) -> int:
        chosen = [self.opened.run_id]
        return selecting.choose(runs.the_operator(), chosen, verb=Together.CANCEL, asked_for="").pk

    @cached_property
    def view_id(self) -> int:
        return saved_views.save(acting(self.person), name="Mine", query="state=open").pk

    @cached_property
    def delegation_id(self) -> int:
        until = db_now() + timedelta(days=1)
        receiver = somebody("dora", "approvers").username
        return delegating.delegate(acting(self.person), to=receiver, until=until).pk


def somebody(name: str, *groups: str, tenant: str = "default") -> User:
    """A person of a tenant, with exactly these roles."""
    Tenant.objects.get_or_create(slug=tenant)
    person = User.objects.create_user(name)
    person.groups.set(Group.objects.filter(name__in=groups))
    Membership.objects.create(tenant=Tenant.objects.get(slug=tenant), user=person)
    return person
