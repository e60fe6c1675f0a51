"""Every kind of inbox is read, and what cannot be read is named by file, line and byte."""

from pathlib import Path

import pytest

from runs.examples.inbox.incoming import UnreadableInbox
from runs.examples.inbox.readers import read
from runs.examples.workflows import place_of
from tests.inbox.builders import a_mail, a_maildir, a_tsv


def texts_of(source: Path) -> list[str]:
    return [message.text for message in read(source)]


def test_a_labelled_tsv_is_read_line_by_line_without_unquoting(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("ham", 'He said "hi'), ("spam", '"Win" now')))

    messages = list(read(source))

    assert [(m.label, m.text) for m in messages] == [("ham", 'He said "hi'), ("spam", '"Win" now')]


def test_a_tsv_may_have_no_labels_and_no_header(tmp_path: Path) -> None:
    source = tmp_path / "inbox.tsv"
    source.write_text("first\nsecond\n", "utf-8")

    messages = list(read(source))

    assert [(m.label, m.text) for m in messages] == [("", "first"), ("", "second")]


def test_labels_without_a_header_are_understood(tmp_path: Path) -> None:
    source = tmp_path / "inbox.tsv"
    source.write_text("ham\tfirst\nspam\tsecond", "utf-8")

    assert [m.label for m in read(source)] == ["ham", "spam"]


def test_equal_lines_are_separate_messages(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("ham", "ok"), ("ham", "ok")))

    assert texts_of(source) == ["ok", "ok"]


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_text(tmp_path: Path) -> None:
    source = tmp_path / "inbox.tsv"
    source.write_bytes(b"\xef\xbb\xbfLabel\tText\r\nham\tone\r\nham\ttwo\r\n")

    assert texts_of(source) == ["one", "two"]


def test_unicode_line_separators_do_not_split_a_line(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("ham", "a\u2028b\x85c"),))

    assert texts_of(source) == ["a\u2028b\x85c"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "there is no message in it"),
        (b"Label\tText\n", "there is no message in it"),
        (b"Label\tText\nham\tone\nham\n", "line 3: 1 columns where 2 are expected"),
        (b"Label\tText\nham\tone\ttwo\n", "line 2: 3 columns where 2 are expected"),
        (b"Label\tText\nham\tone\neggs\ttwo\n", "line 3: the label is 'eggs'"),
        (b"Label\tText\nham\t \n", "line 2: the text is empty"),
        (b"Label\tText\n\nham\tone\n", "line 2: the line is empty"),
        (b"Label\tText\nham\tone\nham\tcaf\xe9!\n", "line 3, byte 8: 0xe9 is not valid UTF-8"),
        (b"\xef\xbb\xbfham\t\xff\n", "line 1, byte 8: 0xff is not valid UTF-8"),
        (b"\xff\xfeh\x00a\x00m\x00", "line 1, byte 1: this is UTF-16"),
        (b"Label\tText\nham\ta\x00b\n", "line 2, byte 6: a NUL byte"),
        (b"one\ttwo\tthree\n", "line 1: expected the header"),
        (b"first\nsecond\tcolumn\n", "line 2: 2 columns where 1 is expected"),
        (b"ham\t" + b"x" * (1 << 20) + b"\n", "line 1: longer than 1048576 bytes"),
    ],
)
def test_a_malformed_tsv_is_refused_with_its_line(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    source = tmp_path / "inbox.tsv"
    source.write_bytes(content)

    with pytest.raises(UnreadableInbox) as refused:
        texts_of(source)

    assert str(refused.value).startswith(str(source))
    assert complaint in str(refused.value)


def test_a_csv_is_read_by_the_names_in_its_header(tmp_path: Path) -> None:
    source = tmp_path / "inbox.csv"
    source.write_text('From,Text,Label\nann,"Hello,\nyou",ham\nbob,"say ""hi""",spam\n', "utf-8")

    messages = list(read(source))

    assert [(m.sender, m.text, m.label) for m in messages] == [
        ("ann", "Hello,\nyou", "ham"),
        ("bob", 'say "hi"', "spam"),
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "line 1: the file is empty"),
        (b"a,b\n1,2\n", "line 1: the header names no column of text"),
        (b"text,text\n1,2\n", "line 1: the header names a column twice"),
        (b"text,label\nhello\n", "line 2: 1 columns where 2 are expected"),
        (b'text\n"one\ntwo\n', "line 3: not valid CSV"),
        (b"text\none\n\xff\n", "line 3, byte 1: 0xff is not valid UTF-8"),
    ],
)
def test_a_malformed_csv_is_refused_with_its_line(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    source = tmp_path / "inbox.csv"
    source.write_bytes(content)

    with pytest.raises(UnreadableInbox, match=complaint):
        texts_of(source)


def test_an_mbox_is_read_mail_by_mail(tmp_path: Path) -> None:
    source = tmp_path / "mail"
    first, second = a_mail(text=">From here on"), a_mail(sender="Zoë <zoe@example.org>", text="Hé!")
    source.write_bytes(b"From a Mon Jan  1\n" + first + b"\nFrom b Tue Jan  2\n" + second + b"\n")

    messages = list(read(source))

    assert [m.text for m in messages] == ["From here on", "Hé!"]
    assert messages[1].sender == "Zoë <zoe@example.org>"


def test_a_file_named_mbox_that_is_none_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "inbox.mbox"
    source.write_bytes(b"Subject: x\n\nhello\n")

    with pytest.raises(UnreadableInbox, match="line 1: not an mbox"):
        texts_of(source)


def test_an_empty_mail_in_an_mbox_is_refused_with_its_line(tmp_path: Path) -> None:
    source = tmp_path / "inbox.mbox"
    source.write_bytes(b"From a\n" + a_mail() + b"\nFrom b\n\nFrom c\n" + a_mail())

    with pytest.raises(UnreadableInbox, match=r"line \d+: the mail that begins here is empty"):
        texts_of(source)


def test_a_maildir_is_read_in_the_order_of_its_file_names(tmp_path: Path) -> None:
    source = a_maildir(tmp_path / "mails", a_mail(text="one"), a_mail(text="two"), flagged="S")
    (source / "new" / ".hidden").write_text("not a mail")

    assert texts_of(source) == ["one", "two"]


def test_a_folder_that_is_no_maildir_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cur").mkdir()

    with pytest.raises(UnreadableInbox, match="a folder, but no Maildir: it has no new"):
        texts_of(tmp_path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere.tsv", "there is no such file or folder"),
        ("x" * 300, "file name too long"),
        ("round", "too many levels of symbolic links"),
        ("a\0b", "a path holds no NUL character"),
    ],
)
def test_a_path_that_names_nothing_is_refused(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "round").symlink_to("round")

    with pytest.raises(UnreadableInbox, match=says):
        texts_of(tmp_path / name)


@pytest.mark.parametrize(
    ("inbox", "says"), [(" ", "no inbox is named"), ("~nobody-here/x", "home")]
)
def test_an_inbox_that_is_nowhere_is_refused(inbox: str, says: str) -> None:
    with pytest.raises(UnreadableInbox, match=says):
        place_of(inbox)


def test_mail_that_lies_about_its_encoding_is_still_read(tmp_path: Path) -> None:
    head = b"From: a\nSubject: =?no-such-code?q?x?=\nContent-Type: text/plain; charset="
    broken = head + b"utf-8\n\ncaf\xe9 \x00\n"
    unusable = (head + name + b"\n\nhello\n" for name in (b"no-such-code", b"idna", b'"utf-8\0"'))
    source = a_maildir(tmp_path / "mails", broken, *unusable)

    read_as = "caf\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER}"
    assert texts_of(source) == [read_as, "hello", "hello", "hello"]


def test_a_mail_of_endless_parts_is_refused_with_its_line(tmp_path: Path) -> None:
    nested = (f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(1200))
    source = tmp_path / "mails.mbox"
    source.write_text("From a\nFrom: a\n\nhello\n\nFrom b\n" + "".join(nested))

    with pytest.raises(UnreadableInbox, match=r"mails\.mbox, line 6: a mail with too many parts"):
        texts_of(source)


def test_html_mail_is_judged_by_what_a_reader_sees(tmp_path: Path) -> None:
    page = b"<style>p{}</style><p>Win &pound;500</p><!-- hidden -->"
    source = a_maildir(tmp_path / "mails", b"From: a\nContent-Type: text/html\n\n" + page)

    assert texts_of(source) == ["Win £500"]
