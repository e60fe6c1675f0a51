"""What may be noted on a run: a few sentences, without what has the shape of a secret."""

from runs.rules import redaction

LONGEST = 1000


class NoteRefused(ValueError):
    """There is nothing to note, or too much; the message says which."""


def noted(text: str) -> str:
    """The text as it is kept, without secrets, nor the NUL that PostgreSQL has in no text."""
    said = redaction.redact(text.replace("\0", "").strip(), secrets={})
    if not said:
        raise NoteRefused("Write what others should know about this run.")
    if len(said) > LONGEST:
        raise NoteRefused(f"A note has at most {LONGEST:,} characters; this one has {len(said):,}.")
    return said
