"""What the tests stand on: absent servers are said aloud, and no leg is left out or mixed with another."""

import io
import re

import pytest

from config.environment import ROOT
from tests.support.absent import absent
from tests.support.legs import Labelled

pytestmark = pytest.mark.one_database


def test_an_absent_server_is_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", "postgresql")

    assert isinstance(absent("redis", because="it is not there"), pytest.skip.Exception)


def test_an_absent_server_that_was_required_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", "postgresql, redis")

    assert isinstance(absent("redis", because="it is not there"), pytest.fail.Exception)


def test_a_leg_labels_whole_lines_and_keeps_those_that_still_grow() -> None:
    said = io.StringIO()
    leg = Labelled(said, "[sqlite]")

    leg.write("..")
    before = said.getvalue()
    leg.write(".\none more\nand")

    assert before == ""
    assert said.getvalue() == "[sqlite] ...\n[sqlite] one more\n"


def test_make_test_leaves_no_leg_out() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    made_of = set(
        " ".join(re.findall(r"^(?:STATIC|LEGS) += (.*)$", makefile, re.MULTILINE)).split()
    )

    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))

    assert made_of <= targets
    assert {target for target in targets if target.startswith("test-")} <= {*made_of, "test-long"}
