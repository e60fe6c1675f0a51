"""Each race that was decided in advance, R1 to R30, is tried by a test that names it."""

import ast
from collections.abc import Iterator
from pathlib import Path
from re import findall

import pytest

from config.environment import ROOT

pytestmark = pytest.mark.one_database
RULES = [f"R{number}" for number in range(1, 31)]


def told_by_tests() -> Iterator[str]:
    """What the names and docstrings of tests, and of their modules, say."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path != Path(__file__):
            yield from _told(ast.parse(path.read_text(encoding="utf-8")))


def _told(module: ast.Module) -> Iterator[str]:
    tests = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    for test in tests:
        yield f"{test.name.replace('_', ' ')} {ast.get_docstring(test) or ''}"
    if tests:
        yield ast.get_docstring(module) or ""


def test_every_rule_is_named_by_a_test() -> None:
    named = {rule for text in told_by_tests() for rule in findall(r"\bR\d+\b", text)}

    assert [rule for rule in RULES if rule not in named] == []


def test_a_name_that_no_test_has_is_missed() -> None:
    """The look above sees tests alone: a remark somewhere else proves nothing."""
    named = ast.parse('"""About R77."""\ndef a_builder():\n    """R78"""\n')

    assert list(_told(named)) == []
