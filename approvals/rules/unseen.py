"""Characters that a reader would not see, or that turn what they read around, made visible."""

import unicodedata
from dataclasses import dataclass

LINE_END = "\n"
KEPT = frozenset({LINE_END, "\t"})
TURNING = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
# They look like nothing, or like a space, and are neither control nor format characters.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
SELECTORS = (range(0xFE00, 0xFE0F), range(0xE0100, 0xE01F0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text; `name` is given for one character that had to be made visible."""

    text: str
    name: str = ""


def pieces_of(text: str, *, keep: frozenset[str] = KEPT) -> list[Piece]:
    """The text in order, every unseen character a piece of its own."""
    found: list[Piece] = []
    start = 0
    for at, character in enumerate(text):
        if not _is_unseen(character, keep) or (LINE_END in keep and text[at : at + 2] == "\r\n"):
            continue
        if at > start:
            found.append(Piece(text=text[start:at]))
        found.append(Piece(text=f"U+{ord(character):04X}", name=_name(character)))
        start = at + 1
    if start < len(text):
        found.append(Piece(text=text[start:]))
    return found


def plainly(text: str) -> str:
    """The same for a terminal: `⟨U+202E⟩`."""
    return "".join(f"⟨{piece.text}⟩" if piece.name else piece.text for piece in pieces_of(text))


def _is_unseen(character: str, keep: frozenset[str]) -> bool:
    if character.isascii() and character.isprintable():
        return False
    if character in keep:
        return False
    if character in BLANK or unicodedata.category(character) in TURNING:
        return True
    return any(ord(character) in selectors for selectors in SELECTORS)


def _name(character: str) -> str:
    return unicodedata.name(character, "control character").lower()
