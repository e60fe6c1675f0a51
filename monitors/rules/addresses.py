"""Which addresses are pings: by code, or by key and slug, and what each of them says."""

import re
from dataclasses import dataclass
from uuid import UUID

from monitors.rules.states import PingKind

CODE = r"(?P<code>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
# Keys have exactly this length, so that no page of the site can be taken for one.
KEY_LENGTH = 22
BY_SLUG = rf"(?P<key>[A-Za-z0-9_-]{{{KEY_LENGTH}}})/(?P<slug>[A-Za-z0-9_-]{{1,100}})"
SAYS = r"(?:/(?:(?P<word>start|fail|log)|(?P<status>[0-9]+)))?"
# Both below /ping/, as a self-hosted server has them, and at the root, as the hosted one does.
ADDRESS = re.compile(rf"/(?:ping/)?(?:{CODE}|{BY_SLUG}){SAYS}/?")
BELOW = "/ping/"
UUID_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SLUG = re.compile(r"[a-z0-9_-]{1,100}")
WORST_STATUS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinged:
    """Whom a request pings, and what its address says."""

    code: UUID | None
    key: str
    slug: str
    kind: PingKind
    status: int | None

    @property
    def possible(self) -> bool:
        return self.status is None or self.status <= WORST_STATUS


def pinged(path: str) -> Pinged | None:
    """What `path` pings; None where it is no address of a ping."""
    found = ADDRESS.fullmatch(path)
    if found is None:
        return None
    code, status = found["code"], found["status"]
    kind = PingKind(found["word"]) if found["word"] else PingKind.SUCCESS
    if status is not None and int(status[:4]) > 0:
        kind = PingKind.FAIL
    return Pinged(
        code=UUID(code) if code else None,
        key=found["key"] or "",
        slug=found["slug"] or "",
        kind=kind,
        status=int(status[:4]) if status is not None else None,
    )


def ping_path(code: UUID) -> str:
    """The path of a monitor's own address; `/start`, `/fail`, `/log` or an exit status may follow."""
    return f"{BELOW}{code}"
