"""An installation with short beats, whose parts tests kill, stop and cut off, and what the judge says of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import connection

from monitors.models import Alert, Monitor, VerdictChange
from runs.definition import registry
from runs.models import Step, Worker
from tests.durability.cuttable import Line, a_line
from tests.durability.plant import BODIES, Plant, a_plant
from tests.support.programs import CLUSTER_WORKERS, Program
from tests.support.waiting import PATIENCE, goal

BEATING = "tests.monitors.beating"
# How late a verdict may be said.
ALLOWED = goal(2.0)
WRONG = ("slow", "cut_off", "silent")


@dataclass(slots=True, kw_only=True)
class Living:
    """`to_web` is the workers' way to the pages, `to_database` theirs to the database (PostgreSQL)."""

    plant: Plant
    to_web: Line
    to_database: Line | None
    web: Program
    watch: Program
    way: dict[str, str]
    told_before: int = 0
    ends: list[Path] = field(default_factory=list)

    def begin_anew(self) -> None:
        """For the next test: nothing of the one before runs, all are well, and alerts count from here."""
        for end in self.ends:
            end.touch()
        self.everybody_is_well()
        last = Alert.objects.order_by("-pk").values_list("pk", flat=True).first()
        self.told_before = last or 0

    def tend(self) -> None:
        """What a supervisor does: start a cluster again when none is left."""
        if all(program.process.poll() is not None for program, *_ in self.plant.clusters):
            self.plant.cluster(workers=CLUSTER_WORKERS, grace=10, **self.way)

    def monitor(self, kind: str, subject: object = "") -> Monitor | None:
        subject = str(subject or kind)
        return Monitor.objects.filter(kind=kind, subject=subject).first()

    def verdict(self, kind: str, subject: object = "") -> str:
        found = self.monitor(kind, subject)
        return found.verdict if found else ""

    def until_verdict(
        self, verdict: str, kind: str, subject: object = "", *, within: float = PATIENCE
    ) -> VerdictChange:
        """Wait for it; the change that said so."""
        self.plant.eventually(
            lambda: self.verdict(kind, subject) == verdict,
            f"{kind} {subject} is {verdict}",
            within=within,
        )
        found = self.monitor(kind, subject)
        assert found is not None
        change = VerdictChange.objects.filter(monitor=found, verdict=verdict).last()
        assert change is not None
        return change

    def is_told_once(self, kind: str, subject: object = "") -> bool:
        """One alert each time that it went wrong, and no other; what was said of it is printed.

        On a machine that stands still for seconds it may have gone wrong more often than by the test.
        """
        found = self.monitor(kind, subject)
        assert found is not None
        alerts, changes = self._told_and_said(found)
        for change in changes:
            print(f"{change.at:%H:%M:%S.%f} {change.verdict} {change.breach} {change.facts}")  # noqa: T201
        went_wrong = [
            change
            for change in changes
            if change.verdict in WRONG and change.was_verdict not in WRONG
        ]
        return len(went_wrong) == alerts > 0

    def _told_and_said(self, monitor: Monitor) -> tuple[int, list[VerdictChange]]:
        """Both as of one moment: what changes a verdict changes its alert with it."""
        alerts = Alert.objects.filter(monitor=monitor)
        while True:
            before = alerts.count()
            changes = list(VerdictChange.objects.filter(monitor=monitor).order_by("seq"))
            if alerts.count() == before:
                return before, changes

    def rounds_of(self, run_id: UUID) -> int:
        """How often the run has said how far it is: its worker's own time."""
        return Step.objects.get(run_id=run_id, key="go", superseded=False).progress_done or 0

    def incidents(self) -> int:
        """How many incidents the alerts of this test are in."""
        alerts = Alert.objects.filter(pk__gt=self.told_before)
        return len(set(alerts.values_list("incident", flat=True)))

    def everybody_is_well(self, *, within: float = PATIENCE) -> None:
        def well() -> bool:
            self.tend()
            gone = [
                str(pk) for pk in Worker.objects.exclude(state="live").values_list("pk", flat=True)
            ]
            rows = Monitor.objects.filter(removed_at=None).exclude(state="paused")
            rows = rows.exclude(kind="worker", subject__in=gone)
            said = set(rows.values_list("verdict", flat=True))
            return bool(rows) and said <= {"alive"}

        self.plant.eventually(well, "all monitors say alive", within=within)

    def begin(self, workflow: str) -> tuple[UUID, Path]:
        """A run of it in a worker's hands, beating; and the file that ends it."""
        end = self.plant.scratch("end")
        self.ends.append(end)
        run_id = self.plant.start(workflow, end=str(end))
        self.plant.holder_of(run_id)
        self.until_verdict("alive", "run", run_id)
        return run_id, end

    def changes_since(self, seen: int) -> list[str]:
        rows = VerdictChange.objects.filter(pk__gt=seen).exclude(was_verdict="")
        return [f"{row.monitor.kind} {row.was_verdict} -> {row.verdict}" for row in rows]

    def newest_change(self) -> int:
        last = VerdictChange.objects.order_by("-pk").values_list("pk", flat=True).first()
        return last or 0


@contextmanager
def a_living_place(
    var: Path, *, workers: int = CLUSTER_WORKERS, **settings: str
) -> Iterator[Living]:
    with a_plant(var) as plant, registry.isolated():
        for workflow in _workflows():
            registry.register(workflow)
        plant.tends = False  # it is tended here
        plant.site.settings |= {
            "WORKFLOW_APPS": f"{BODIES},{BEATING}",
            "BEAT_SECONDS": "1",
            # Not so short that a worker loses it by being kept from the processor.
            "LEASE_SECONDS": "15",
            **settings,
        }
        web = plant.site.start_web()
        with a_line(host="127.0.0.1", port=web.port) as to_web, _to_database(plant) as to_database:
            way = {"SITE_URL": f"http://127.0.0.1:{to_web.port}"}
            if to_database is not None:
                way["DATABASE_URL"] = _through(plant.site.database_url, to_database.port)
            plant.cluster(workers=workers, grace=10, **way)
            watch = plant.watch(SITE_URL=web.url)
            place = Living(
                plant=plant,
                to_web=to_web,
                to_database=to_database,
                web=web,
                watch=watch,
                way=way,
            )
            place.until_verdict("alive", "cluster")
            place.everybody_is_well()
            yield place


def _workflows() -> list[Any]:
    from tests.monitors.beating import workflows

    return [workflows.GetsOn, workflows.Outlives, workflows.StandsStill]


@contextmanager
def _to_database(plant: Plant) -> Iterator[Line | None]:
    if connection.vendor == "sqlite":
        yield None
        return
    where = urlsplit(plant.site.database_url)
    with a_line(host=str(where.hostname), port=where.port or 5432) as line:
        yield line


def _through(url: str, port: int) -> str:
    where = urlsplit(url)
    user, _, _ = where.netloc.rpartition("@")
    return where._replace(netloc=f"{user}@127.0.0.1:{port}").geturl()


__all__ = ["ALLOWED", "Living", "a_living_place"]
