"""What a person is asked before a run takes another one's place and effects happen twice."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from runs.rules import canonical
from runs.rules.asks import Ask, ask, option
from runs.rules.preview import Preview
from runs.rules.words import of

KIND = "restart"
MOST_NAMED = 50


def before_restart(
    preview: Preview,
    *,
    old: str,
    reference: str,
    because: str,
    abandon: Sequence[str],
    changed: bool = False,
) -> Ask:
    """May the run `old` be begun anew, although this would happen a second time?"""
    since = " The list has changed since it was approved." if changed else ""
    twice = of(preview.repeated_total, "effect")
    return ask(
        KIND,
        f"Begin {reference} anew, although {twice} would happen a second time, "
        f"{preview.irreversible_total:,} of which cannot be undone?{since}",
        _options(twice),
        evidence={
            "restart_of": old,
            "because": because,
            "repeated": [_told(asdict(one)) for one in preview.repeated[:MOST_NAMED]],
            "repeated_total": preview.repeated_total,
            "irreversible_total": preview.irreversible_total,
            "abandon": list(abandon),
            "digest": digest_of(preview),
        },
        irreversible=True,
    )


def _options(twice: str) -> list[dict[str, Any]]:
    return [
        option(
            "restart",
            "Begin anew",
            f"The old run is superseded and never changes again. This run does every step under new "
            f"keys; the receivers cannot know that {twice} happened before.",
            then="begin",
            danger=True,
        ),
        option(
            "leave",
            "Leave it",
            "Nothing is sent. This run ends as cancelled, and the old one stays as it is.",
            then="cancel",
        ),
    ]


def _told(one: dict[str, Any]) -> dict[str, Any]:
    names = ("effect", "resource", "state", "reversibility", "key")
    return {name: one[name] for name in names}


def digest_of(preview: Preview) -> str:
    """What an approval is bound to: all that would happen twice."""
    counted = [preview.repeated_total, preview.irreversible_total]
    named = [[one.key, one.state] for one in preview.repeated]
    return canonical.digest(canonical.dumps([counted, named]))
