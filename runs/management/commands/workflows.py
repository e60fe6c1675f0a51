"""The command `workflows`: list them, show one plan, begin a new one, certify one, look before a deployment."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from runs.definition import registry
from runs.definition.workflow import Workflow
from runs.engine.versions import code_here
from runs.management import certifying, preflight, scaffold
from runs.queries.version_notes import changed_since_first_started
from runs.rules import declarations
from runs.rules.plan import BrokenWorkflow, Plan, PlanStep, plan_of


class Command(BaseCommand):
    help = "Lists workflows, shows the plan of one, begins a new one, certifies one, looks before a deployment."
    requires_system_checks = []  # It also shows those that are broken.

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="list|show|new|certify|plans|preflight"
        )
        listing = verbs.add_parser("list", help="every workflow, with its version and plan hash")
        showing = verbs.add_parser("show", help="one workflow's plan, and what is wrong with it")
        showing.add_argument("name")
        showing.add_argument("--version", type=int, dest="number", help="otherwise the latest")
        beginning = verbs.add_parser("new", help="write a running two-step app with its test")
        beginning.add_argument("name", help="lower-case, such as tidy_inbox")
        asking = verbs.add_parser("certify", help="answer ten questions about one, and say why")
        certifying.add_arguments(asking)
        dumping = verbs.add_parser("plans", help="all plans of this code, for `preflight --plans`")
        looking = verbs.add_parser("preflight", help="open runs that other code would strand")
        preflight.add_arguments(looking)
        for verb in (listing, showing, beginning, asking, dumping, looking):
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        getattr(self, f"_{verb}")(**options)

    def _list(self, *, json: bool, **options: Any) -> None:
        workflows = registry.all_workflows()
        if json:
            self._print_json({"workflows": [_summary(workflow) for workflow in workflows]})
        else:
            self.stdout.write("\n".join(_lines_of_list(workflows)))
        broken = [workflow.name for workflow in workflows if _errors(workflow)]
        unreadable = [failure.module for failure in registry.failures()]
        if broken or unreadable:
            raise CommandError(
                f"Cannot run: {', '.join(broken + unreadable)}. `manage.py check` says why.",
                returncode=1,
            )

    def _show(self, *, name: str, number: int | None, json: bool, **options: Any) -> None:
        try:
            workflow = registry.chosen(name, number)
            plan = plan_of(workflow)
        except (registry.UnknownWorkflow, BrokenWorkflow) as error:
            raise CommandError(str(error), returncode=1) from None
        if json:
            self._print_json({**asdict(plan), "problems": _problems(workflow)})
        else:
            self.stdout.write("\n".join(_lines_of_plan(plan)))

    def _new(self, *, name: str, json: bool, **options: Any) -> None:
        try:
            written = scaffold.write(name, below=Path.cwd())
        except scaffold.CannotWrite as error:
            raise CommandError(str(error), returncode=1) from None
        files = [str(path.relative_to(Path.cwd())) for path in written]
        if json:
            self._print_json({"name": name, "files": files})
        else:
            self.stdout.write("\n".join([*files, "", *scaffold.what_next(name)]))

    def _certify(self, *, json: bool, **options: Any) -> None:
        certificate = certifying.certified(**options)
        if json:
            self._print_json(certifying.as_json(certificate))
        else:
            self.stdout.write("\n".join(certifying.lines_of(certificate)))
        if not certificate.green:
            raise CommandError(certifying.verdict(certificate), returncode=1)

    def _plans(self, **options: Any) -> None:
        self._print_json(code_here().to_json())

    def _preflight(
        self, *, json: bool, plans: str | None, against: str | None, **options: Any
    ) -> None:
        try:
            code = preflight.code_meant(plans=plans, against=against)
        except preflight.NoSuchRelease as error:
            raise CommandError(str(error), returncode=2) from None
        try:
            found = list(preflight.forecasts(code))
        except Error as error:
            raise CommandError(preflight.unfit(error), returncode=2) from None
        strands = sum(one.verdict.strands for one in found)
        if json:
            self._print_json({"runs": [one.to_json() for one in found], "strands": strands})
        else:
            self.stdout.write("\n".join(preflight.lines_of(found)))
        if strands:
            raise SystemExit(1)

    def _print_json(self, value: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, indent=2))


def _summary(workflow: type[Workflow]) -> dict[str, Any]:
    broken = _errors(workflow)
    return {
        "name": workflow.name,
        "version": workflow.version,
        "plan_hash": None if broken else plan_of(workflow).hash,
        "steps": [step.key for step in workflow.steps],
        "problems": _problems(workflow),
        "changed_code": list(_changed_code(workflow)),
    }


def _changed_code(workflow: type[Workflow]) -> Sequence[str]:
    """Steps whose code changed since this version was first started; without a database, none."""
    if _errors(workflow):
        return ()
    try:
        return changed_since_first_started(plan_of(workflow))
    except Error:
        return ()


def _problems(workflow: type[Workflow]) -> list[dict[str, Any]]:
    return [
        {"id": problem.id, "level": problem.level, "message": problem.message, "hint": problem.hint}
        | {"file": problem.file, "line": problem.line}
        for problem in declarations.problems(workflow)
    ]


def _errors(workflow: type[Workflow]) -> list[declarations.Problem]:
    return [problem for problem in declarations.problems(workflow) if problem.level == "error"]


def _lines_of_list(workflows: list[type[Workflow]]) -> Iterator[str]:
    if not workflows:
        yield "No workflows. `manage.py workflows new NAME` begins one."
    width = max((len(workflow.name) for workflow in workflows), default=0)
    for workflow in workflows:
        broken = _errors(workflow)
        plan = "cannot run" if broken else plan_of(workflow).hash[:12]
        steps = " → ".join(step.key for step in workflow.steps)
        yield f"{workflow.name:{width}}  {workflow.version}  {plan}  {steps}"
        if changed := _changed_code(workflow):
            yield (
                f"{'':{width}}  warning: the code of {', '.join(changed)} has changed since version "
                f"{workflow.version} was first started"
            )


def _lines_of_plan(plan: Plan) -> Iterator[str]:
    yield f"{plan.name} version {plan.version}, plan {plan.hash}"
    if plan.doc:
        yield plan.doc
    for field in plan.input_fields:
        needed = "required" if field.required else f"default {json.dumps(field.default)}"
        yield f"  input {field.name}: {field.type}, {needed}. {field.help}".rstrip()
    for step in plan.steps:
        yield ""
        yield from _lines_of_step(step)


def _lines_of_step(step: PlanStep) -> Iterator[str]:
    mark = "  [side effect]" if step.side_effect else ""
    yield f"{step.ordinal}. {step.key}{mark}  ({step.file}:{step.line})"
    yield f"   reads {_listed(step.reads)}; writes {_listed(step.writes)}"
    for effect in step.effects:
        undone = "irreversible" if effect.irreversible else "reversible"
        kept = (
            "contract" if effect.has_contract else "probe" if effect.has_probe else "asks a person"
        )
        yield f"   effect {effect.name}: {undone}; an unknown result: {kept}"
    if step.approval and step.approval.waived:
        yield f"   approval waived: {step.approval.waived}"
    elif step.approval:
        yield f"   asks {_listed(step.approval.groups, nobody='anybody')} about {step.approval.of}"
    if step.files:
        yield f"   keeps files of its own: {step.files}"
    yield f"   tried {step.retry.attempts} times, then: {step.on_exhausted}; {step.fingerprint[:12]}"


def _listed(names: tuple[str, ...], nobody: str = "nothing") -> str:
    return ", ".join(names) or nobody
