"""Which glyph and which word stand for a kind of decision."""

APPROVING = ("plan", "call")
UNCERTAIN = ("reconcile", "conflict", "orphaned call")


def look_kind(kind: str) -> str:
    """The kind by the name that the glyphs know."""
    if kind in APPROVING:
        return "approve"
    if kind in UNCERTAIN:
        return "reconcile"
    return "resume" if kind in ("give up", "crashes", "refused", "limit") else "decision"


def word_of(kind: str) -> str:
    return {
        "plan": "approve a list",
        "call": "approve a call",
        "question": "answer",
        "reconcile": "unknown result",
        "conflict": "conflict",
        "orphaned call": "orphaned call",
        "give up": "gave up",
        "refused": "refused",
        "crashes": "lost workers",
        "version": "other version",
        "limit": "limit breached",
        "restart": "begin anew",
    }.get(kind, kind)
