"""An inbox is settled whole or not at all, always alike, and its source is left alone."""

from pathlib import Path

import pytest

from runs.examples.inbox import copying
from runs.examples.inbox.copying import INDEX, Manifest, settle
from runs.examples.inbox.incoming import UnreadableInbox
from runs.examples.inbox.index import Index
from tests.inbox.builders import a_mail, a_maildir, a_tsv, everything_in


def settled(source: Path, folder: Path, *, in_place: bool = False) -> Manifest:
    return settle(source=source, folder=folder, in_place=in_place, progress=lambda _: None)


def test_equal_lines_become_separate_files_with_separate_ids(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("ham", "ok"), ("ham", "ok")))

    manifest = settled(source, tmp_path / "inboxes" / "run")

    entries = list(Index(tmp_path / "inboxes" / "run" / INDEX))
    assert manifest.count == 2
    assert len({entry.id for entry in entries}) == 2
    assert all((Path(manifest.mailbox) / entry.file).is_file() for entry in entries)


def test_the_same_source_always_makes_the_same_folder(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv")

    settled(source, tmp_path / "first" / "run")
    settled(source, tmp_path / "second" / "run")

    first, second = (everything_in(tmp_path / name / "run") for name in ("first", "second"))
    del first["manifest.json"], second["manifest.json"]
    assert first == second


def test_labels_change_neither_ids_nor_mails(tmp_path: Path) -> None:
    one = a_tsv(tmp_path / "one.tsv", rows=(("ham", "a text"), ("spam", "another")))
    other = a_tsv(tmp_path / "other.tsv", rows=(("spam", "a text"), ("ham", "another")))

    folders = [Path(settled(source, tmp_path / source.stem).mailbox) for source in (one, other)]

    assert everything_in(folders[0] / "new") == everything_in(folders[1] / "new")


@pytest.mark.parametrize("kind", ["tsv", "maildir"])
def test_the_source_is_not_touched(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "source"
    place.mkdir()
    if kind == "tsv":
        source = a_tsv(place / "inbox.tsv")
    else:
        source = a_maildir(place / "mails", a_mail(), a_mail(), flagged="RS")
    before = everything_in(place)

    settled(source, tmp_path / "run")

    assert everything_in(place) == before


def test_a_copied_mail_keeps_its_bytes_and_flags(tmp_path: Path) -> None:
    mail = a_mail(text="kept as it is")
    source = a_maildir(tmp_path / "mails", mail, flagged="RS")

    manifest = settled(source, tmp_path / "run")

    (copy,) = (Path(manifest.mailbox) / "cur").iterdir()
    assert copy.read_bytes() == mail
    assert copy.name.endswith(":2,RS")


def test_a_maildir_in_place_is_listed_and_not_copied(tmp_path: Path) -> None:
    source = a_maildir(tmp_path / "mails", a_mail())

    manifest = settled(source, tmp_path / "run", in_place=True)

    assert manifest.mailbox == str(source)
    assert not (tmp_path / "run" / "new").exists()


def test_only_a_maildir_can_be_worked_on_in_place(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv")

    with pytest.raises(UnreadableInbox, match="only a Maildir can be worked on in place"):
        settled(source, tmp_path / "inboxes" / "run", in_place=True)

    assert list((tmp_path / "inboxes").iterdir()) == []


def test_a_malformed_line_leaves_nothing_behind(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("ham", "fine"), ("eggs", "not fine")))

    with pytest.raises(UnreadableInbox, match="line 3"):
        settled(source, tmp_path / "inboxes" / "run")

    assert list((tmp_path / "inboxes").iterdir()) == []


def test_a_crash_half_way_is_cleared_away_by_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, home = a_tsv(tmp_path / "inbox.tsv"), tmp_path / "inboxes"
    with monkeypatch.context() as killed:
        killed.setattr("shutil.rmtree", lambda *_, **__: None)
        killed.setattr(copying, "_put_in_place", lambda *_: None)
        with pytest.raises(FileNotFoundError):
            settled(source, home / "run")
    assert [path.name.endswith(".part") for path in home.iterdir()] == [True]

    settled(source, home / "run")

    assert [path.name for path in home.iterdir()] == ["run"]


def test_a_folder_that_stands_is_taken_as_it_is(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv")
    first = settled(source, tmp_path / "run")
    source.unlink()

    assert settled(source, tmp_path / "run") == first


def test_an_attempt_taken_for_dead_that_finished_first_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = a_tsv(tmp_path / "inbox.tsv")
    put_in_place = copying._put_in_place

    def after_the_other(aside: Path, folder: Path) -> None:
        monkeypatch.setattr(copying, "_put_in_place", put_in_place)
        settled(source, folder)
        put_in_place(aside, folder)

    monkeypatch.setattr(copying, "_put_in_place", after_the_other)

    manifest = settled(source, tmp_path / "inboxes" / "run")

    assert manifest.count == 4
    assert [path.name for path in (tmp_path / "inboxes").iterdir()] == ["run"]


def test_the_index_reads_entries_and_slices_without_holding_them(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv")
    settled(source, tmp_path / "run")

    index = Index(tmp_path / "run" / INDEX)

    assert len(index) == 4
    assert [entry.ordinal for entry in index[1:3]] == [2, 3]
    assert index[-1].text == "ok"
