"""A dry run as data, for commands."""

from dataclasses import asdict
from typing import Any

from runs.queries.undoing import UndoPage
from runs.rules.canonical import digest
from runs.rules.preview import Preview
from runs.rules.undoing import TYPED


def undo_shown(page: UndoPage) -> dict[str, Any]:
    """What undoing one call would send; `confirm` is what has to be typed where it is final."""
    undo = page.undo
    return {
        "id": str(page.run.pk),
        "undoes": {
            "key": page.call.key,
            "effect": page.call.effect,
            "resource": page.call.resource,
            "state": page.call.state,
        },
        "undo": {"effect": undo.effect.name, "key": undo.key} if undo else None,
        "request_digest": digest(undo.request) if undo else "",
        "irreversible": page.grave,
        "confirm": page.call.key[-TYPED:] if page.grave and not page.refusal else "",
        "refusal": page.refusal,
        "happens": page.happens,
    }


def preview_shown(preview: Preview) -> dict[str, Any]:
    """All of it; lists of calls are cut where the rules cut them, and the totals say so."""
    return {
        "posture": preview.posture,
        "generation": preview.generation,
        "checkpoint": preview.checkpoint,
        "first": preview.first,
        "cursor": preview.cursor,
        "refusal": preview.refusal,
        "asks_first": preview.asks_first,
        "steps": [asdict(step) for step in preview.steps],
        "keys": {
            "same": preview.keys_same,
            "new": preview.keys_new,
            "shown": len(preview.calls),
            "total": preview.calls_total,
        },
        "calls": [asdict(call) for call in preview.calls],
        "repeated": {
            "total": preview.repeated_total,
            "irreversible": preview.irreversible_total,
            "effects": [asdict(one) for one in preview.repeated],
        },
        "unsettled": [call.key for call in preview.unsettled],
        "judgements": {
            "kept": preview.judgements_kept,
            "forgotten": preview.judgements_forgotten,
        },
        "warnings": list(preview.warnings),
    }
