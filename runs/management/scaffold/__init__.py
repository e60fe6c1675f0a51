"""Writes a new app with a running two-step workflow and its test."""

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from string import Template

from django.apps import apps

from runs.definition import registry

NAME = re.compile(r"[a-z][a-z0-9_]*")
SUFFIX = ".tpl"
HERE = Path(__file__).parent
# What the written files import: a class of that name would take its place there.
IMPORTED = {"Annotated", "Any", "Contract", "Effect", "Path", "Rehearsal", "Run", "Workflow"}


class CannotWrite(Exception):
    """Nothing was written; the text says why, and what to do."""


def write(name: str, *, below: Path) -> list[Path]:
    """Write the app `name` into the folder; nothing at all if anything is in the way."""
    _refuse_bad_names(name)
    target = below / name
    if target.exists():
        raise CannotWrite(f"{target} is already there. Choose another name, or remove it.")
    if find_spec(name) is not None or name in sys.stdlib_module_names:
        raise CannotWrite(f"{name!r} is already the name of a module. Choose another.")
    if name in {app.label for app in apps.get_app_configs()}:
        raise CannotWrite(f"{name!r} is already the label of an app. Choose another.")
    if name in {workflow.name for workflow in registry.all_workflows()}:
        raise CannotWrite(f"{name!r} is already the name of a workflow. Choose another.")
    words = _words(name)
    return [
        _write_one(source, target=target, words=words)
        for source in sorted(HERE.rglob(f"*{SUFFIX}"))
    ]


def _words(name: str) -> dict[str, str]:
    made = class_name(name)
    imports = [
        f"from {name}.workflows import {made}",
        "from runs.testing import Rehearsal, run_workflow",
    ]
    return {
        "name": name,
        "class_name": made,
        "title": title(name),
        "imports": "\n".join(sorted(imports)),
    }


def what_next(name: str) -> list[str]:
    """What the author does now, in order."""
    return [
        "Next:",
        f"  WORKFLOW_APPS={name} python manage.py check",
        f"  WORKFLOW_APPS={name} python -m pytest {name}",
        f"  WORKFLOW_APPS={name} python manage.py runs start {name} "
        '--input \'{"who": "Ada"}\' --wait',
        f"Set WORKFLOW_APPS={name} for `up`, `web`, `cluster` and `watch` alike.",
    ]


def class_name(name: str) -> str:
    """The class's name: tidy_inbox is TidyInbox."""
    return "".join(part.capitalize() for part in name.split("_"))


def title(name: str) -> str:
    """The name in words: tidy_inbox is "Tidy inbox"."""
    return name.replace("_", " ").capitalize()


def _refuse_bad_names(name: str) -> None:
    made = class_name(name)
    taken = keyword.iskeyword(name) or keyword.iskeyword(made) or made in IMPORTED
    if taken and NAME.fullmatch(name):
        raise CannotWrite(f"{name!r} makes a name that Python or its files need. Choose another.")
    if not NAME.fullmatch(name) or len(name) > 63:
        raise CannotWrite(
            f"{name!r} is no name for an app. Use lower-case letters, digits and underscores, "
            "beginning with a letter, such as tidy_inbox."
        )


def _write_one(source: Path, *, target: Path, words: dict[str, str]) -> Path:
    place = Template(str(source.relative_to(HERE)).removesuffix(SUFFIX)).substitute(words)
    path = target / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(Template(source.read_text("utf-8")).substitute(words), "utf-8")
    return path
