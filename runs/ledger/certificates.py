"""Ask the ten questions about a workflow, and keep the answers."""

from django.db import transaction

from runs.definition.workflow import Workflow
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.models import Certificate as Row
from runs.models import Tenant
from runs.queries.certificate import known_of
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.certificate import Certificate
from runs.rules.certifying import certificate_of
from runs.rules.chain import Draft
from runs.rules.plan import plan_of
from runs.rules.policy import Actor, Verb, require


def certify(
    actor: Actor,
    workflow: type[Workflow],
    *,
    stranded: int = 0,
    tenant: str = tenants.DEFAULT,
) -> Certificate:
    """Answer the questions as things stand, and store the certificate.

    `stranded` is how many of its open runs this code could not take along by itself.
    Raises BrokenWorkflow, NotAllowed, NoSuchTenant.
    """
    require(actor, Verb.OPERATE)
    owner = tenants.owner(actor, tenant, to="certify")
    known = known_of(actor, plan_of(workflow), stranded=stranded)
    certificate = certificate_of(known, made_at=db_now().isoformat())
    _keep(actor, certificate, owner=owner)
    return certificate


@commits("certificate_kept")
def _keep(actor: Actor, certificate: Certificate, *, owner: Tenant) -> None:
    """The certificate, with one event on its tenant's chain."""
    with transaction.atomic():
        now = db_now()
        Row.objects.create(
            tenant=owner,
            workflow=certificate.name,
            version=certificate.version,
            plan_hash=certificate.plan_hash,
            passed=certificate.passed,
            asked=len(certificate.questions),
            made_by=actor.name,
            made_at=now,
            body=certificate.to_text(),
        )
        body = {
            "workflow": certificate.name,
            "version": certificate.version,
            "plan_hash": certificate.plan_hash,
            "passed": certificate.passed,
            "certificate": canonical.digest(certificate.to_text()),
        }
        kept = Draft(kind="certificate.made", body=canonical.dumps(body))
        audit.append_to_tenant(owner.pk, [kept], now=now, actor=actor.name)
