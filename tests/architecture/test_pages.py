"""What a page may not contain, because the browser would refuse it or send a reader elsewhere."""

import re

import pytest

from config.environment import ROOT
from tests.architecture.sources import own_static_files, templates

pytestmark = pytest.mark.one_database

FORBIDDEN = {
    "an inline style, which the policy blocks": r"<style\b|\sstyle\s*=",
    "an inline script, which the policy blocks": r"<script\b(?![^>]*\bsrc=)",
    "an inline handler, which the policy blocks": r"\son[a-z]+\s*=",
    "hx-on, which needs eval": r"\b(?:data-)?hx-on\b",
    "a trigger filter, which without eval is always true": r"hx-trigger\s*=\s*[\"'][^\"']*\[",
    "hx-vals with js:, which needs eval": r"hx-(?:vals|headers)\s*=\s*[\"']\s*js:",
    "the object form of morph, which needs eval": r"morph:\s*\{",
    "an address outside the site": r"(?:src|href|action|hx-[a-z]+)\s*=\s*[\"']\s*(?:https?:)?//",
}
ELSEWHERE = r"(?:url\(\s*[\"']?|@import\s+[\"']|fetch\(\s*[\"'`]|import\s+[\"'])(?:https?:)?//"


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_contains(what: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, hit.start()) + 1}: {hit[0].strip()}"
        for path in templates()
        for text in [path.read_text(encoding="utf-8")]
        for hit in re.finditer(FORBIDDEN[what], text, re.IGNORECASE)
    ]

    assert not found, f"{what}:\n" + "\n".join(found)


def test_every_icon_that_a_template_names_is_drawn() -> None:
    sprite = (ROOT / "static" / "vendor" / "lucide" / "sprite.svg").read_text("utf-8")
    drawn = set(re.findall(r'id="([a-z0-9-]+)"', sprite))
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in templates()
        for name in re.findall(r'{%\s*icon "([a-z0-9-]+)"', path.read_text(encoding="utf-8"))
        if name not in drawn
    ]

    assert drawn
    assert not missing, "\n".join(missing)


def test_no_part_with_a_form_is_cut_off_from_its_token() -> None:
    whole = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in templates()}
    cut_off = [
        f"{name} includes {part}"
        for name, text in whole.items()
        for part in re.findall(r'{%\s*include "([^"]+)"[^%]*\bonly\s*%}', text)
        if "csrf_token" in whole.get(f"templates/{part}", "")
    ]

    assert not cut_off, "a form without a token is refused:\n" + "\n".join(cut_off)


def test_no_stylesheet_or_script_leads_outside_the_site() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in own_static_files()
        for hit in re.finditer(ELSEWHERE, path.read_text(encoding="utf-8"))
    ]

    assert not found, "\n".join(found)


def test_every_vendored_folder_carries_its_licence() -> None:
    folders = [path for path in (ROOT / "static" / "vendor").iterdir() if path.is_dir()]

    bare = [path.name for path in folders if not list(path.glob("LICEN*"))]

    assert not bare
