"""Which functions of the ledger commit something, and which crash points they name, read from the source."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from config.environment import ROOT
from tests.architecture.sources import project_modules

LEDGER = ROOT / "runs" / "ledger"
# What writes rows when it is called on anything.
WRITES = frozenset(
    [
        "create",
        "update",
        "save",
        "delete",
        "bulk_create",
        "bulk_update",
        "get_or_create",
        "update_or_create",
    ]
)


@dataclass(slots=True)
class Function:
    """`writes` when it writes itself or calls a function of the ledger that does."""

    name: str
    node: ast.FunctionDef
    writes: bool = False
    calls: set[str] = field(default_factory=set)
    points: set[str] = field(default_factory=set)


@cache
def functions() -> dict[str, Function]:
    """Every function at the top of a module of the ledger, as `module.function`."""
    found = {
        f"{path.stem}.{node.name}": _function(path, node)
        for path in sorted(LEDGER.glob("*.py"))
        if path.stem != "commits"
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    changed = True
    while changed:
        changed = False
        for function in found.values():
            if not function.writes and any(_writes(found, call) for call in function.calls):
                function.writes = changed = True
    return found


def _writes(found: dict[str, Function], name: str) -> bool:
    """Whose own commit is named is no part of its caller's."""
    return name in found and found[name].writes and not found[name].points


def _function(path: Path, node: ast.FunctionDef) -> Function:
    function = Function(name=f"{path.stem}.{node.name}", node=node)
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            _note_call(path, function, part)
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _called(decorator) == "commits":
            function.points.add(_first_text(decorator))
    return function


def _note_call(path: Path, function: Function, call: ast.Call) -> None:
    name = _called(call)
    if name == "reached":
        function.points.add(_first_text(call))
    if isinstance(call.func, ast.Name):
        function.calls.add(f"{path.stem}.{name}")
    elif isinstance(call.func, ast.Attribute):
        if isinstance(call.func.value, ast.Name):
            function.calls.add(f"{call.func.value.id}.{name}")
        cursor = name == "execute"
        function.writes = function.writes or name in WRITES or cursor


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _first_text(call: ast.Call) -> str:
    first = call.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def called_from_above() -> set[str]:
    """The functions of the ledger that some module of no ledger uses: each of their calls is a commit."""
    return {
        name
        for path in project_modules()
        if "ledger" not in path.parts
        for name in _used_in(ast.parse(path.read_text("utf-8")))
    }


def _used_in(tree: ast.Module) -> Iterator[str]:
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.module == "runs.ledger":
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif node.module and node.module.startswith("runs.ledger."):
            stem = node.module.rpartition(".")[2]
            yield from (f"{stem}.{alias.name}" for alias in node.names)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in modules:
                yield f"{modules[name]}.{attribute}"
