"""Stages for tests: a scratch database beside the suite's own, with programs of the drill on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.test import override_settings

from runs.definition import registry
from runs.management.drills import conduct, findings
from runs.management.drills.asked import Asked
from runs.management.drills.conduct import Drill
from runs.management.drills.stage import Stage, played
from runs.rules.drill_report import DrillReport
from tests.drills.programs import Curious, Fickle, Program
from tests.durability.plant import BODIES, a_plant
from tests.support.programs import CLUSTER_WORKERS

APPS = f"{BODIES},tests.drills"


@contextmanager
def a_stage(var: Path) -> Iterator[Stage]:
    """Set up, with its receiver; clusters and the watch are started by whoever needs them."""
    # What the workers keep is looked at by this process.
    files = override_settings(MEDIA_ROOT=str(var / "artifacts"), VAR_DIR=var)
    with files, a_plant(var) as plant:
        for workflow in (Program, Curious, Fickle):
            registry.register(workflow)
        environment = {**plant.site.environment(), "WORKFLOW_APPS": APPS}
        with played(Stage(folder=var, environment=environment)) as stage:
            yield stage


def a_drill(stage: Stage, workflow: str, **asked: object) -> Drill:
    said = {"workers": CLUSTER_WORKERS} | asked
    return conduct.prepared(Asked(workflow=workflow, **said), stage)  # type: ignore[arg-type]


def report_of(drill: Drill) -> DrillReport:
    """What was found so far; the stage goes on."""
    counted = findings.count(drill.stage)
    return conduct.report(drill, datetime.now(UTC), counted=counted)
