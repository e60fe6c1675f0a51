"""What everybody may see is chosen: a tenant's status page, and the round of its badges."""

import re
from datetime import datetime, timedelta

from django.db import transaction

from monitors.models import StatusPage
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require
from runs.rules.refusals import FieldErrors

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
LONGEST_TITLE = 200
BADGE_OVERLAP = timedelta(days=7)


class StatusPageRefused(FieldErrors):
    """A page that would not work; `errors` has one sentence a field."""


@commits("status_page_committed")
def keep(
    actor: Actor, *, title: str, slug: str, published: bool, tenant: str = tenants.DEFAULT
) -> StatusPage:
    """Make or change the page of a tenant. Raises StatusPageRefused, NoSuchTenant, NotAllowed."""
    require(actor, Verb.OPERATE)
    title = title.strip()
    with transaction.atomic():
        owner, now = tenants.owner(actor, tenant, to="publish"), db_now()
        if errors := _refusals(title, slug, owner.pk):
            raise StatusPageRefused(errors)
        page, _ = StatusPage.objects.update_or_create(
            tenant=owner,
            defaults={
                "title": title,
                "slug": slug,
                "published": published,
                "changed_by": actor.name[:200],
                "changed_at": now,
            },
        )
        _tell(page, "changed", by=actor, now=now, published=published)
    return page


@commits("status_page_committed")
def renew_badges(
    actor: Actor, *, tenant: str = tenants.DEFAULT, overlap: timedelta = BADGE_OVERLAP
) -> StatusPage:
    """Other addresses for every badge; those before hold for `overlap` more."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        owner, now = tenants.owner(actor, tenant, to="publish"), db_now()
        page = StatusPage.objects.select_for_update().filter(tenant=owner).first()
        if page is None:
            raise StatusPageRefused({"title": "Give the status page a name first."})
        page.badge_round, page.badges_until = page.badge_round + 1, now + overlap
        page.changed_by, page.changed_at = actor.name[:200], now
        page.save()
        _tell(page, "badges_renewed", by=actor, now=now, round=page.badge_round)
    return page


def _refusals(title: str, slug: str, tenant_id: int) -> dict[str, str]:
    errors = {}
    if not title or len(title) > LONGEST_TITLE or not title.isprintable():
        errors["title"] = f"Say what it is about, in at most {LONGEST_TITLE} characters."
    if not SLUG.fullmatch(slug):
        errors["slug"] = "1 to 60 small letters, digits and - such as acme-status."
    elif StatusPage.objects.filter(slug=slug).exclude(tenant_id=tenant_id).exists():
        errors["slug"] = "Another page is at this address already."
    return errors


def _tell(page: StatusPage, verb: str, *, by: Actor, now: datetime, **more: int) -> None:
    event = Draft(kind=f"status_page.{verb}", body=canonical.dumps({"page": page.slug, **more}))
    audit.append_to_tenant(page.tenant_id, [event], now=now, actor=by.name)
