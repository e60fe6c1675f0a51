"""What is installed: pinned, hashed, from wheels alone, and from no place named in the lock."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from config.environment import ROOT

pytestmark = pytest.mark.one_database
LOCKS = ("requirements.txt", "requirements-dev.txt")


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", text, re.MULTILINE))


def wanted() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["dev"]]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")

    assert not re.findall(
        r"^\s*-.*(?:index|links|host).*|\w+://\S+|@ file|^\s*/\S+", text, re.MULTILINE
    )


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")

    hashed = re.findall(r"^([a-z0-9._-]+)==\S+ \\\n    --hash=sha256:", text, re.MULTILINE)

    assert hashed
    assert hashed == list(pins(lock))


def test_what_is_wanted_is_locked_and_both_locks_agree() -> None:
    runtime, everything = (pins(lock) for lock in LOCKS)

    names = [re.split(r"[\[~=<>; ]", line)[0].lower() for line in wanted()]

    assert not [name for name in names if name not in everything]
    assert runtime.items() <= everything.items()


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "lock",
    [LOCKS[0], pytest.param(LOCKS[1], marks=pytest.mark.long)],
    ids=["runtime", "development"],
)
def test_a_lock_installs_from_wheels_alone(lock: str, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)

    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--retries=10",
        "--timeout=60",
        "--require-hashes",
        "--only-binary",
        ":all:",
    ]
    subprocess.run([*install, "-r", str(ROOT / lock)], check=True)

    environment = {**os.environ, "VAR_DIR": str(tmp_path / "var"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    subprocess.run([python, ROOT / "manage.py", "check"], check=True, env=environment)
