"""Who hears of what `tell` was given, asked by the same rules as it."""

from collections.abc import Sequence

from runs.conf import mail_leaves
from runs.queries import channels
from runs.queries.people import MOST_MAILED, to_be_told
from runs.rules.channels import Severity
from runs.rules.hearing import Hearing


def hearing(
    *,
    tenant_id: int,
    workflow: str,
    named: str,
    groups: Sequence[str] = (),
    users: Sequence[int] = (),
    severity: Severity = Severity.WARNING,
) -> Hearing:
    """Of news for these groups or people, whom somebody has named."""
    people = to_be_told(tenant_id=tenant_id, groups=groups, users=users)
    rows = list(people.values_list("username", "email"))
    addressed = [name for name, email in rows if email]
    fitting = channels.fitting(tenant_id, severity=severity, workflow=workflow)
    return Hearing(
        named=named,
        mailed=addressed[:MOST_MAILED],
        without_address=[name for name, email in rows if not email],
        beyond=len(addressed) > MOST_MAILED,
        channels=[each.name for each in fitting if each.dead_at is None],
        dead=[each.name for each in fitting if each.dead_at is not None],
        mail_leaves=mail_leaves(),
    )
