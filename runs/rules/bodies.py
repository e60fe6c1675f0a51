"""What a step's body says it does, read from its source without running it."""

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from runs.definition.effects import Effect
from runs.definition.places import Place

NAMED_FIRST = {"read", "write", "plan", "apply", "ask", "wait_for", "sleep"}
FACTS = {"read", "write", "plan", "apply"}
EFFECT_AT = {"call": 0, "plan": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One `run.verb(...)`: the literal name or the effect it was given, as far as the source tells."""

    verb: str
    name: str | None
    effect: Effect | None
    in_transaction: bool
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All uses in a body.

    `whole`: no other use of `run` can hide behind the source. `own_rows`: the body uses the run's id,
    so a fact it reads may stand for rows of the author's own.
    """

    uses: tuple[Use, ...] = ()
    returns: tuple[Place, ...] = ()
    whole: bool = False
    own_rows: bool = False

    def of(self, *verbs: str) -> Iterator[Use]:
        """The uses of these verbs."""
        return (use for use in self.uses if use.verb in verbs)


def read_body(body: Callable[..., Any], *, owner: type | None = None) -> Reading:
    """What the source of a step's body shows; nothing at all where there is no source."""
    found = _source(body)
    parameters = list(inspect.signature(body).parameters)
    if found is None or len(parameters) < 2:
        return Reading()
    tree, first_line = found
    function = next(
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    reader = _Reader(
        body=body, owner=owner, receiver=parameters[0], run=parameters[1], first_line=first_line
    )
    for statement in function.body:
        reader.visit(statement)
    return Reading(
        uses=tuple(reader.uses),
        returns=tuple(reader.returns),
        whole=not reader.run_escapes,
        own_rows=reader.own_rows,
    )


def _source(body: Callable[..., Any]) -> tuple[ast.AST, int] | None:
    try:
        lines, first_line = inspect.getsourcelines(body)
    except (OSError, TypeError):
        return None
    source = "".join(lines)
    if source[:1].isspace():
        # A method's source is indented; one line above it makes it a program without touching its strings.
        source, first_line = f"if True:\n{source}", first_line - 1
    try:
        return ast.parse(source), first_line
    except SyntaxError:
        return None


@dataclass(slots=True, kw_only=True)
class _Reader(ast.NodeVisitor):
    body: Callable[..., Any]
    owner: type | None
    receiver: str
    run: str
    first_line: int
    uses: list[Use] = field(default_factory=list)
    returns: list[Place] = field(default_factory=list)
    run_escapes: bool = False
    own_rows: bool = False
    transactions: int = 0
    functions: int = 0

    def visit_Call(self, node: ast.Call) -> None:
        verb = self._verb(node)
        if verb is None:
            self.generic_visit(node)
            return
        name = self._text(_argument(node, 0, "name")) if verb in NAMED_FIRST else None
        if verb in FACTS and name is None:
            self.run_escapes = True
        self.uses.append(
            Use(
                verb=verb,
                name=name,
                effect=self._effect(node, verb),
                in_transaction=self.transactions > 0,
                place=self._place(node),
            )
        )
        for child in (*node.args, *node.keywords):
            self.visit(child)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == self.run:
            self.run_escapes = True

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not self._is_run(node.value) or node.attr in FACTS:
            self.generic_visit(node)
        self.own_rows |= self._is_run(node.value) and node.attr in ("id", "reference")

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item)
        opens = any(self._opens_transaction(item.context_expr) for item in node.items)
        self.transactions += opens
        for statement in node.body:
            self.visit(statement)
        self.transactions -= opens

    def visit_Return(self, node: ast.Return) -> None:
        nothing = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if not nothing and not self.functions:
            self.returns.append(self._place(node))
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.functions += 1
        self.generic_visit(node)
        self.functions -= 1

    def _verb(self, node: ast.Call) -> str | None:
        if isinstance(node.func, ast.Attribute) and self._is_run(node.func.value):
            return node.func.attr
        return None

    def _is_run(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.run

    def _opens_transaction(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else node
        if not isinstance(called, ast.Attribute):
            return isinstance(called, ast.Name) and called.id == "atomic"
        return called.attr == "atomic" or (
            called.attr == "checkpoint" and self._is_run(called.value)
        )

    def _effect(self, node: ast.Call, verb: str) -> Effect | None:
        if verb not in EFFECT_AT:
            return None
        found = self._resolved(_argument(node, EFFECT_AT[verb], "effect"))
        return found if isinstance(found, Effect) else None

    def _text(self, node: ast.expr | None) -> str | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        found = self._resolved(node)
        return found if isinstance(found, str) else None

    def _resolved(self, node: ast.expr | None) -> object:
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Attribute):
            base = self._resolved(node.value)
            if isinstance(base, types.ModuleType | type):
                return inspect.getattr_static(base, node.attr, None)
        return None

    def _name(self, name: str) -> object:
        if name == self.receiver:
            return self.owner
        code = self.body.__code__
        if name in code.co_varnames or name in code.co_cellvars:
            return None
        if name in code.co_freevars:
            cell = (self.body.__closure__ or ())[code.co_freevars.index(name)]
            return _contents(cell)
        return self.body.__globals__.get(name)

    def _place(self, node: ast.expr | ast.stmt) -> Place:
        return Place(file=self.body.__code__.co_filename, line=self.first_line + node.lineno - 1)


def _argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    return node.args[position] if len(node.args) > position else None


def _contents(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None
