"""The words, glyphs and regions that every page is made of."""

from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from runs.rules import words
from runs.rules.looks import Look, look_of
from runs.rules.ways_back import WayBack, from_text

register = template.Library()

GLYPHS = "img/glyphs.svg"
ICONS = "vendor/lucide/sprite.svg"


def drawn(sheet: str, name: str, kind: str) -> SafeString:
    return format_html(
        '<svg class="{}" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        kind,
        static(sheet),
        name,
    )


@register.simple_tag
def icon(name: str, small: bool = False) -> SafeString:
    """A Lucide icon of the sprite; always beside a word or inside something labelled."""
    return drawn(ICONS, name, "icon icon-small" if small else "icon")


@register.simple_tag
def glyph(state: object, kind: str = "") -> SafeString:
    """The shape of a state alone, where the word stands nearby."""
    return drawn(GLYPHS, look_of(str(state), kind=kind).glyph, "glyph")


@register.simple_tag
def shape(name: str) -> SafeString:
    """A shape by its own name, where nobody asks which state it stands for."""
    return drawn(GLYPHS, name, "glyph")


@register.filter
def family(state: object, kind: str = "") -> str:
    return look_of(str(state), kind=kind).family


@register.simple_tag
def state(word: object, kind: str = "", large: bool = False, plain: bool = False) -> SafeString:
    """Glyph and word of a state, and what it waits for: `{% state run.state run.waits_for %}`."""
    look = look_of(str(word), kind=kind)
    return format_html(
        '<span class="{}">{}<span>{}</span>{}</span>',
        classes_of(look, large=large, plain=plain),
        drawn(GLYPHS, look.glyph, "glyph"),
        str(word).replace("_", " "),
        format_html('<span class="state-kind">· {}</span>', kind) if kind else "",
    )


def classes_of(look: Look, *, large: bool, plain: bool) -> str:
    names = ["state", f"state-{look.family}"]
    if look.filled and not plain:
        names.append("state-filled")
    if large:
        names.append("state-large")
    return " ".join(names)


@register.simple_tag
def live(url: str, version: object, speed: str = "slow") -> SafeString:
    """Attributes that keep a region fresh; nothing at all when there is no speed (the end is final).

    The element needs an id, and its answer must be the same element again.
    """
    if not speed:
        return SafeString("")
    joiner = "&" if "?" in url else "?"
    return attributes(
        {
            "data-live-region": speed,
            "hx-get": f"{url}{joiner}v={version}",
            "hx-trigger": f"live-{speed} from:body",
            "hx-swap": "morph:outerHTML",
            "hx-ext": "morph",
            "hx-target": "this",
            "hx-sync": "this:drop",
        }
    )


def attributes(pairs: dict[str, str]) -> SafeString:
    return format_html_join(" ", '{}="{}"', pairs.items())


@register.inclusion_tag("_copyable.html")
def copyable(value: object, label: str = "", short: bool = False, key: str = "") -> dict[str, Any]:
    """An id, key or digest with a button that copies the whole of it."""
    text = str(value)
    shown = f"{text[:4]}…{text[-6:]}" if short and len(text) > 14 else text
    return {"text": text, "shown": shown, "short": short, "label": label or "value", "key": key}


@register.inclusion_tag("_copyable.html")
def digest(value: str) -> dict[str, Any]:
    """A SHA-256 shown by its ends; the whole is in the title and in the copy."""
    shown = f"sha256 {value[:6]}…{value[-4:]}" if value else "no digest"
    return {"text": value, "shown": shown, "short": True, "label": "digest", "key": ""}


@register.filter
def way_back(tags: str | None) -> WayBack | None:
    """The form that undoes what a message says, if it carries one."""
    return from_text(tags or "")


@register.filter
def first_word(text: str) -> str:
    """Of a name for the engine, such as `retry retry 2`, what says something to people."""
    return text.partition(" ")[0]


@register.filter
def size(amount: int | None) -> str:
    """Never a guess when the amount is unknown."""
    return "unknown size" if amount is None else words.size(amount)


@register.filter
def capped(amount: int, cap: int = 10_000) -> str:
    return words.capped(amount, cap)
