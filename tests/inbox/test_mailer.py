"""The report's mail carries an id made from its key, by which it can be found again."""

from pathlib import Path
from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest
from django.core.mail.backends.base import BaseEmailBackend
from pytest_django import Settings

from runs.definition import NotSent, Refused
from runs.examples.inbox import mailer

REQUEST = {"from": "a@localhost", "to": "b@localhost", "subject": "Report “done”", "text": "2 é\n"}
KEY = "mp_" + "k" * 61


class Refusing(BaseEmailBackend):
    """A server that wants none of it."""

    def send_messages(self, email_messages: Any) -> int:
        raise SMTPRecipientsRefused({"b@localhost": (550, b"no such user")})


class Unreachable(BaseEmailBackend):
    """A server that is not there."""

    def open(self) -> bool:
        raise ConnectionRefusedError("connection refused")


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.EMAIL_BACKEND = mailer.FILE_BACKEND
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")
    return tmp_path / "mail"


def test_a_mail_is_found_by_the_key_it_was_sent_with(folder: Path) -> None:
    sent = mailer.send(REQUEST, key=KEY, timeout=5)

    assert mailer.find(KEY, REQUEST) == sent
    assert sent["id"] == f"<{KEY}@milepost.invalid>"


def test_a_mail_that_was_not_sent_is_not_found(folder: Path) -> None:
    mailer.send(REQUEST, key=KEY, timeout=5)

    assert mailer.find("mp_another", REQUEST) is None


def test_a_folder_that_is_not_there_yet_holds_no_mail(folder: Path) -> None:
    assert mailer.find(KEY, REQUEST) is None


def test_a_mail_cut_off_by_a_crash_was_not_sent(folder: Path) -> None:
    mailer.send(REQUEST, key=KEY, timeout=5)
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-30])

    assert mailer.find(KEY, REQUEST) is None


def test_where_nothing_can_be_looked_up_nothing_is_guessed(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"

    with pytest.raises(mailer.CannotBeLookedUp):
        mailer.find(KEY, REQUEST)


def test_a_server_that_cannot_be_reached_was_sent_nothing(settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Unreachable"

    with pytest.raises(NotSent):
        mailer.send(REQUEST, key=KEY, timeout=5)


def test_a_folder_that_cannot_be_written_was_sent_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "mail").write_text("a file where a folder is expected")
    settings.EMAIL_BACKEND = mailer.FILE_BACKEND
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")

    with pytest.raises(NotSent):
        mailer.send(REQUEST, key=KEY, timeout=5)


def test_a_refused_recipient_is_a_definite_no(settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Refusing"

    with pytest.raises(Refused, match="no such user"):
        mailer.send(REQUEST, key=KEY, timeout=5)


@pytest.mark.parametrize(
    ("to", "says"), [("  ", "nobody to send it to"), ("a@b\nBcc: c@d", "mail")]
)
def test_what_cannot_leave_as_a_mail_is_a_definite_no(folder: Path, to: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        mailer.send({**REQUEST, "to": to}, key=KEY, timeout=5)

    assert not folder.exists()
