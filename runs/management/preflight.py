"""Before a deployment, or before going back: which open runs the code to come would strand, and why."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings

from runs.engine.versions import code_here, verdict_of
from runs.queries import versions
from runs.rules.courses import Verdict
from runs.rules.versions import Code, code_from_json
from runs.rules.words import of

PLANS_SECONDS = 120


class NoSuchRelease(Exception):
    """The plans of the release to compare with cannot be read; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One open run that the code to come does not simply go on with."""

    run: Any
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        to = self.verdict.to
        return {
            "id": str(self.run.pk),
            "reference": self.run.reference,
            "workflow": self.run.workflow,
            "version": self.run.version,
            "state": self.run.state,
            "step": self.run.step,
            "to_version": to.version if to else None,
            "course": self.verdict.course.value,
            "reason": self.verdict.reason,
            "sentence": self.verdict.sentence,
            "strands": self.verdict.strands,
        }


def add_arguments(parser: ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--plans", metavar="FILE", help="a list that `workflows plans` printed")
    which.add_argument("--against", metavar="REF", help="a git reference of this project")


def code_meant(*, plans: str | None, against: str | None) -> Code:
    """The code to compare with: what is here, a release's list, or a git reference."""
    if against:
        return _read(_plans_at(against), named=against)
    if plans:
        try:
            text = Path(plans).read_text()
        except OSError as error:
            raise NoSuchRelease(f"{plans} cannot be read: {error.strerror}.") from None
        return _read(text, named=plans)
    return code_here()


def _read(text: str, *, named: str) -> Code:
    try:
        return code_from_json(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise NoSuchRelease(f"{named} holds no list of plans: {error}") from None


def _plans_at(ref: str) -> str:
    """The plans of a git reference, listed by its own code in a folder of its own."""
    git = shutil.which("git")
    if git is None:
        raise NoSuchRelease("git is not installed; use --plans with a list of that release.")
    root = str(settings.BASE_DIR)
    archive = [git, "-C", root, "archive", "--format=tar", "--end-of-options", ref]
    packed = subprocess.run(archive, capture_output=True, check=False)  # noqa: S603 - no shell
    if packed.returncode:
        raise NoSuchRelease(packed.stderr.decode(errors="replace").strip())
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tar:
            tar.extractall(folder, filter="data")
        return _listed_in(folder, ref)


def _listed_in(folder: str, ref: str) -> str:
    listed = subprocess.run(
        [sys.executable, "manage.py", "workflows", "plans"],
        cwd=folder,
        env={**os.environ, "VAR_DIR": f"{folder}/var"},
        capture_output=True,
        text=True,
        timeout=PLANS_SECONDS,
        check=False,
    )
    if listed.returncode:
        last = (listed.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise NoSuchRelease(f"The code of {ref} cannot list its plans: {last}")
    return listed.stdout


def forecasts(code: Code) -> Iterator[Forecast]:
    """Every open run whose plan or checkpoint this code does not have, and what becomes of it."""
    newer = versions.written_by_newer(code.schema)
    for run in versions.open_runs().iterator(chunk_size=200):
        if run.plan_id not in code.hashes or run.pk in newer:
            yield Forecast(run=run, verdict=verdict_of(run, code))


def unfit(error: Exception) -> str:
    """What to do where this release's tables are not those of the database yet."""
    return (
        f"This database cannot be read with this release's code: {error}. If it has migrations that "
        "are not applied yet, list its plans (`workflows plans > plans.json`) and look with the "
        "release that runs: `workflows preflight --plans plans.json`."
    )


def lines_of(found: Sequence[Forecast]) -> Iterator[str]:
    stranding = [one for one in found if one.verdict.strands]
    for one in sorted(found, key=lambda each: not each.verdict.strands):
        mark = "strands" if one.verdict.strands else one.verdict.course.value
        yield (
            f"{mark:<9} {one.run.pk}  {one.run.workflow} {one.run.version} {one.run.reference}, "
            f"{one.run.state} at {one.run.step}"
        )
        yield f"          {one.verdict.reason}: {one.verdict.sentence}"
    if stranding:
        yield f"{of(len(stranding), 'run')} would strand."
    elif found:
        yield f"{of(len(found), 'run')} would be taken along; none would strand."
    else:
        yield "Every open run goes on with the plan it has."
