"""Deleting from a Maildir keeps its contract: what is gone answers "gone", nothing else is touched."""

from pathlib import Path

import pytest

from runs.definition import NotSent, Refused
from runs.examples.inbox import mailbox
from tests.inbox.builders import a_mail, a_maildir


def deleting(source: Path, file: str) -> dict[str, str]:
    request = {"mailbox": str(source), "id": "000001-abc", "file": file}
    return mailbox.delete(request, key="mp_key", timeout=1.0)


def test_a_message_is_deleted_once_and_gone_ever_after(tmp_path: Path) -> None:
    source = a_maildir(tmp_path / "mails", a_mail(), a_mail(text="stays"))
    first, second = sorted((source / "new").iterdir())

    answers = [deleting(source, f"new/{first.name}") for _ in range(2)]

    assert [answer["result"] for answer in answers] == ["deleted", "gone"]
    assert not first.exists()
    assert second.exists()


def test_a_message_that_a_mail_reader_moved_and_flagged_is_found(tmp_path: Path) -> None:
    source = a_maildir(tmp_path / "mails", a_mail())
    (mail,) = (source / "new").iterdir()
    seen = mail.rename(source / "cur" / f"{mail.name}:2,S")

    answer = deleting(source, f"new/{mail.name}")

    assert answer["result"] == "deleted"
    assert not seen.exists()


def test_a_mailbox_that_is_away_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(NotSent):
        deleting(tmp_path / "unmounted", "new/1")


@pytest.mark.parametrize(
    "file", ["../../etc/passwd", "new/../../x", "tmp/1", "new/", "new/..", "1"]
)
def test_nothing_outside_the_mailbox_can_be_named(tmp_path: Path, file: str) -> None:
    source = a_maildir(tmp_path / "mails", a_mail())

    with pytest.raises(Refused):
        deleting(source, file)


def test_a_delete_that_is_forbidden_is_a_definite_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = a_maildir(tmp_path / "mails", a_mail())
    (mail,) = (source / "new").iterdir()

    def forbidden(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", forbidden)

    with pytest.raises(Refused, match="may not be deleted"):
        deleting(source, f"new/{mail.name}")
