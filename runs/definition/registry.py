"""Which workflows this process knows, by name and version."""

import importlib
import importlib.util
import logging
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runs.definition.places import DeclarationError, Place

if TYPE_CHECKING:
    from runs.definition.workflow import Workflow

log = logging.getLogger(__name__)

MODULE = "workflows"


class UnknownWorkflow(LookupError):
    """Nothing is registered under this name and version; the text says what is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A module of workflows that could not be imported, and why."""

    module: str
    message: str
    hint: str
    place: Place


@dataclass(slots=True)
class _Shelf:
    workflows: dict[tuple[str, int], type["Workflow"]] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)


_shelves = [_Shelf()]


def discover(module_names: Iterable[str]) -> None:
    """Import the `workflows` module of every named app that has one; keep what fails for the checks."""
    for name in module_names:
        module = name if name.endswith(f".{MODULE}") else f"{name}.{MODULE}"
        if _exists(module):
            _import(module)


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _import(module: str) -> None:
    # The rim of discovery: one author's broken module must not take the pages and commands away.
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001
        log.warning("workflows.unreadable", extra={"module_name": module, "error": str(error)})
        _shelves[-1].failures[module] = _failure(module, error)
    else:
        _shelves[-1].failures.pop(module, None)


def _failure(module: str, error: Exception) -> Failure:
    if isinstance(error, DeclarationError):
        return Failure(module=module, message=error.message, hint=error.hint, place=error.place)
    return Failure(
        module=module,
        message=f"{module} cannot be imported: {type(error).__name__}: {error}",
        hint="Mend it; none of its workflows are known to this process.",
        place=_where_it_broke(error),
    )


def _where_it_broke(error: Exception) -> Place:
    if isinstance(error, SyntaxError) and error.filename:
        return Place(file=error.filename, line=error.lineno or 0)
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    return Place(file=last.filename, line=last.lineno or 0)


def failures() -> list[Failure]:
    """Modules of workflows that discovery could not import."""
    return list(_shelves[-1].failures.values())


def register(workflow: type["Workflow"]) -> None:
    """Enter a workflow; the same class made again (a reload) replaces itself, any other is refused."""
    known = _shelves[-1].workflows
    key = (workflow.name, workflow.version)
    there = known.get(key)
    if there is not None and _home(there) != _home(workflow):
        raise DeclarationError(
            f"Workflow {workflow.name!r} version {workflow.version} is defined twice, first in {there.place}.",
            hint="Give one of them another name or the next version number.",
            place=workflow.place,
        )
    known[key] = workflow


def _home(workflow: type["Workflow"]) -> tuple[str, str]:
    return workflow.__module__, workflow.__qualname__


def get(name: str, version: int) -> type["Workflow"]:
    """The workflow of this name and version."""
    try:
        return _shelves[-1].workflows[name, version]
    except KeyError:
        raise UnknownWorkflow(_unknown(f"{name!r} version {version}")) from None


def chosen(name: str, version: int | None) -> type["Workflow"]:
    """The version that was asked for, or the newest where none was. Raises UnknownWorkflow."""
    return latest(name) if version is None else get(name, version)


def latest(name: str) -> type["Workflow"]:
    """The highest version of this name."""
    versions = [version for known, version in _shelves[-1].workflows if known == name]
    if not versions:
        raise UnknownWorkflow(_unknown(repr(name)))
    return get(name, max(versions))


def all_workflows() -> list[type["Workflow"]]:
    """Every workflow, by name, then version."""
    return [
        workflow for _, workflow in sorted(_shelves[-1].workflows.items(), key=lambda item: item[0])
    ]


def _unknown(wanted: str) -> str:
    known = ", ".join(f"{name} {version}" for name, version in sorted(_shelves[-1].workflows))
    return (
        f"No workflow {wanted} is registered here. Registered: {known or 'none'}. "
        "Workflows live in <app>/workflows.py; WORKFLOW_APPS adds apps."
    )


@contextmanager
def isolated() -> Iterator[None]:
    """An empty registry for the length of a test."""
    _shelves.append(_Shelf())
    try:
        yield
    finally:
        _shelves.pop()
