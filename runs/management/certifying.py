"""What `workflows certify` asks for and prints."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError
from django.db import Error

from runs.definition import registry
from runs.engine.versions import code_here
from runs.ledger import certificates
from runs.ledger.tenants import NoSuchTenant
from runs.management import preflight
from runs.management.acting import UnknownActor, actor_named
from runs.management.away import database_away
from runs.queries import memberships
from runs.rules.certificate import Certificate
from runs.rules.plan import BrokenWorkflow
from runs.rules.policy import Actor, NotAllowed, may_see_tenant


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--version", type=int, dest="number", help="otherwise the latest")
    parser.add_argument("--tenant", default=memberships.DEFAULT)
    parser.add_argument("--as", dest="who", metavar="USER", help="act as this user")


def certified(
    *, name: str, number: int | None, tenant: str, who: str | None, **_: Any
) -> Certificate:
    """The certificate that was just made; a CommandError where none can be."""
    try:
        actor = actor_named(who)
        workflow = registry.chosen(name, number)
        stranded = _stranded(actor, workflow.name)
        return certificates.certify(actor, workflow, stranded=stranded, tenant=tenant)
    except UnknownActor as misused:
        raise CommandError(str(misused), returncode=2) from None
    except (
        registry.UnknownWorkflow,
        BrokenWorkflow,
        NotAllowed,
        NoSuchTenant,
    ) as wrong:
        raise CommandError(str(wrong), returncode=1) from None
    except Error as error:
        raise database_away(error) from error


def _stranded(actor: Actor, name: str) -> int:
    """Open runs of the workflow that this code could not take along by itself."""
    return sum(
        forecast.verdict.strands
        for forecast in preflight.forecasts(code_here())
        if forecast.run.workflow == name and may_see_tenant(actor, forecast.run.tenant_id)
    )


def as_json(certificate: Certificate) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "name": certificate.name,
        "version": certificate.version,
        "plan_hash": certificate.plan_hash,
        "made_at": certificate.made_at,
        "valid": True,
        "passed": certificate.passed,
        "questions": [
            {
                "id": question.id,
                "question": question.question,
                "answer": question.answer.value,
                "evidence": [
                    {"answer": each.answer.value, "text": each.text, "about": each.about}
                    for each in question.evidence
                ],
            }
            for question in certificate.questions
        ],
        "waivers": [
            {"step": each.step, "effects": list(each.effects), "reason": each.reason}
            for each in certificate.waivers
        ],
    }


def lines_of(certificate: Certificate) -> Iterator[str]:
    """The same for people: each question with all that speaks for and against it."""
    yield f"{certificate.name} version {certificate.version}, plan {certificate.plan_hash}"
    for number, question in enumerate(certificate.questions, start=1):
        yield ""
        yield f"{number:2}. {question.answer.value:7}  {question.question}"
        for each in question.evidence:
            yield f"      {each.answer.value:7}  {each.text}"
    yield ""


def verdict(certificate: Certificate) -> str:
    """Why this is not green."""
    open_ones = [each for each in certificate.questions if each.answer.value != "pass"]
    named = ", ".join(f"{each.id} ({each.answer.value})" for each in open_ones)
    return f"{certificate.passed} of {len(certificate.questions)} pass; not: {named}."
