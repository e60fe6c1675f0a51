"""How long things may be: what does not fit on a page tells more than one story."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.environment import ROOT
from tests.architecture.sources import project_modules, templates, view_modules

pytestmark = pytest.mark.one_database

FUNCTION, FUNCTION_AT_MOST = 25, 40
MODULE, MODULE_AT_MOST = 250, 400
VIEWS_AT_MOST = 100
TEMPLATE_AT_MOST = 120
SCRIPT_AT_MOST = 100
SHARE_WITHIN_BUDGET = 0.95

# A raised budget says why.
RAISED: dict[str, tuple[int, str]] = {}


def allowed(name: str, at_most: int) -> int:
    return RAISED.get(name, (at_most, ""))[0]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def functions() -> Iterator[tuple[str, int]]:
    """Every function with its lines, the docstring not counted."""
    for path in project_modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                doc = node.body[0] if ast.get_docstring(node) else None
                words = (doc.end_lineno or 0) - doc.lineno + 1 if doc else 0
                yield (
                    f"{named(path)}::{node.name}",
                    (node.end_lineno or 0) - node.lineno + 1 - words,
                )


def test_no_function_is_longer_than_its_budget() -> None:
    long = [
        f"{name}: {lines}" for name, lines in functions() if lines > allowed(name, FUNCTION_AT_MOST)
    ]

    assert not long, "\n".join(long)


def test_nearly_all_functions_fit_the_smaller_budget() -> None:
    sizes = dict(functions())

    long = sorted(f"{name}: {lines}" for name, lines in sizes.items() if lines > FUNCTION)

    assert len(long) <= (1 - SHARE_WITHIN_BUDGET) * len(sizes), "\n".join(long)


def test_no_module_is_longer_than_its_budget() -> None:
    long = [
        f"{named(path)}: {length(path)}"
        for path in [*project_modules(), *(ROOT / "tests").rglob("*.py")]
        if length(path) > allowed(named(path), MODULE_AT_MOST)
    ]

    assert not long, "\n".join(long)


def test_nearly_all_modules_fit_the_smaller_budget() -> None:
    modules = project_modules()

    long = [f"{named(path)}: {length(path)}" for path in modules if length(path) > MODULE]

    assert len(long) <= (1 - SHARE_WITHIN_BUDGET) * len(modules), "\n".join(long)


def test_views_and_templates_and_scripts_stay_small() -> None:
    budgets = [
        *((path, VIEWS_AT_MOST) for path in view_modules()),
        *((path, TEMPLATE_AT_MOST) for path in templates()),
        *((path, SCRIPT_AT_MOST) for path in (ROOT / "static" / "js").glob("*.js")),
    ]

    long = [
        f"{named(p)}: {length(p)}" for p, most in budgets if length(p) > allowed(named(p), most)
    ]

    assert not long, "\n".join(long)


@pytest.mark.parametrize("name", ["utils", "helpers", "services", "common"])
def test_no_module_has_a_name_that_says_nothing(name: str) -> None:
    assert not [named(path) for path in project_modules() if path.stem == name]


def test_every_module_opens_with_one_sentence() -> None:
    silent = [
        named(path)
        for path in project_modules()
        if length(path) and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert not silent, "\n".join(silent)
