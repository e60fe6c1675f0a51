"""The layers hold: who may import whom, as written in pyproject.toml."""

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from config.environment import ROOT

pytestmark = pytest.mark.one_database


def test_imports_point_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)

    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out
