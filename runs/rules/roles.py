"""What people may be here: four roles, each a group, and what each may do."""

from dataclasses import dataclass

from runs.rules.policy import Verb


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """`group` is the group's name in the database; `says` completes “may ...”."""

    group: str
    word: str
    says: str
    verbs: tuple[Verb, ...] = ()


VIEWER = Role(
    group="viewers",
    word="viewer",
    says="look at every page, but neither at payloads nor change anything",
)
OPERATOR = Role(
    group="operators",
    word="operator",
    says="start, pause, resume, replay, restart and cancel runs",
    verbs=(Verb.OPERATE,),
)
APPROVER = Role(
    group="approvers",
    word="approver",
    says="answer decisions, and see the payloads that these are about",
    verbs=(Verb.DECIDE, Verb.VIEW_PAYLOADS),
)
ADMINISTRATOR = Role(
    group="administrators",
    word="administrator",
    says="do all of this, add people and give roles",
    verbs=tuple(Verb),
)
ROLES = (VIEWER, OPERATOR, APPROVER, ADMINISTRATOR)
BY_GROUP = {role.group: role for role in ROLES}
