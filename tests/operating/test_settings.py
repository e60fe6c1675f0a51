"""What the environment may say, and the sentence that follows when it may not."""

import re
from pathlib import Path

import pytest

from config.environment import ROOT, Environment, WrongSetting
from tests.support.programs import Site

KEY = "k" * 40


def reading(var: Path, **values: str) -> Environment:
    return Environment.read({"VAR_DIR": str(var), "SECRET_KEY": KEY, **values})


def test_nothing_needs_to_be_said(tmp_path: Path) -> None:
    read = reading(tmp_path)

    assert (read.host, read.port, read.workers, read.time_zone) == ("127.0.0.1", 8000, 2, "UTC")
    assert read.database["NAME"] == str(tmp_path / "milepost.sqlite3")
    assert not read.debug


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PORT", "http", "PORT is 'http'; say a whole number from 1 to 65535."),
        ("PORT", "70000", "PORT is '70000'"),
        ("PORT", "-1", "PORT is '-1'"),
        ("WORKERS", "0", "WORKERS is '0'"),
        ("DEBUG", "maybe", "DEBUG is 'maybe'; say 1 or 0."),
        ("TIME_ZONE", "Mars/Olympus", "TIME_ZONE is 'Mars/Olympus'"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL is 'loud'; say one of DEBUG, INFO"),
        ("DATABASE_URL", "mysql://root@localhost/x", "DATABASE_URL starts with 'mysql'"),
        ("DATABASE_URL", "/var/db", "DATABASE_URL starts with ''"),
        ("DATABASE_URL", "postgresql://u:p@host:port/name", "DATABASE_URL cannot be read: Port"),
        ("DATABASE_URL", "postgresql://", "DATABASE_URL names no database"),
        ("EMAIL_URL", "smtp://u:p@host:port", "EMAIL_URL cannot be read: Port"),
        ("WORKFLOW_APPS", "json,no_such", "WORKFLOW_APPS names 'no_such', which Python does not"),
        ("WORKFLOW_APPS", ".json", "WORKFLOW_APPS names '.json'"),
        ("REDIS_URL", "localhost:6379", "REDIS_URL is 'localhost:6379'"),
        ("EMAIL_URL", "mail.example", "EMAIL_URL is 'mail.example'"),
        ("MODEL_URL", "ftp://model", "MODEL_URL is 'ftp://model'"),
        ("SITE_URL", "https://", "SITE_URL is 'https://'"),
        ("WATCHDOG_URL", "https://hc.example:http/ping", "WATCHDOG_URL is"),
        ("SECRET_KEY", "short", "shorter than 32 characters"),
        ("LEASE_SECONDS", "1", "LEASE_SECONDS is '1'"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_do(
    tmp_path: Path, name: str, value: str, says: str
) -> None:
    with pytest.raises(WrongSetting, match=re.escape(says)):
        reading(tmp_path, **{name: value})


def test_a_secret_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongSetting, match=r"SECRET_KEY_FILE is .*cannot be read"):
        Environment.read({"VAR_DIR": str(tmp_path), "SECRET_KEY_FILE": str(tmp_path / "none")})


def test_a_secret_key_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    first = Environment.read({"VAR_DIR": str(tmp_path)}).secret_key
    second = Environment.read({"VAR_DIR": str(tmp_path)}).secret_key

    assert first == second
    assert len(first) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_var_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(WrongSetting, match=r"VAR_DIR is .*file/var.*cannot be written"):
        Environment.read({"VAR_DIR": str(tmp_path / "file" / "var")})


def test_a_relative_path_counts_from_the_projects_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else `up` and what it starts, which stands there, would use two databases."""
    monkeypatch.chdir(tmp_path)

    read = Environment.read({"SECRET_KEY": KEY, "DATABASE_URL": "sqlite:///kept.sqlite3"})

    assert (read.var_dir, read.database["NAME"]) == (ROOT / "var", str(ROOT / "kept.sqlite3"))


def test_the_mail_folder_of_an_address_is_absolute(tmp_path: Path) -> None:
    assert (
        reading(tmp_path, EMAIL_URL="filemail:///srv/mail").email["EMAIL_FILE_PATH"] == "/srv/mail"
    )


@pytest.mark.one_database
@pytest.mark.processes
def test_a_wrong_value_stops_the_process_with_one_sentence(empty_site: Site) -> None:
    empty_site.settings["PORT"] = "many"

    answer = empty_site.manage("check")

    assert answer.code == 2
    assert answer.err == "milepost: PORT is 'many'; say a whole number from 1 to 65535.\n"
