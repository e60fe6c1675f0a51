"""Small inboxes of every kind, written where a test wants them."""

from email.message import EmailMessage
from pathlib import Path

ROWS = (
    ("ham", "Are we still on for lunch?"),
    ("spam", "You have WON a £900 prize! Call 09061701461 now to claim"),
    ("ham", "ok"),
    ("ham", "ok"),
)


def a_tsv(
    path: Path, *, rows: tuple[tuple[str, str], ...] = ROWS, header: str = "Label\tSMS"
) -> Path:
    lines = [header, *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def a_mail(
    *, sender: str = "ann@example.org", subject: str = "Lunch", text: str = "At one?"
) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = sender, subject
    mail.set_content(text)
    return mail.as_bytes()


def a_maildir(path: Path, *mails: bytes, flagged: str = "") -> Path:
    for name in ("cur", "new", "tmp"):
        (path / name).mkdir(parents=True)
    for number, mail in enumerate(mails, start=1):
        folder, end = ("cur", f":2,{flagged}") if flagged else ("new", "")
        (path / folder / f"17000000{number:02d}.M{number}.host{end}").write_bytes(mail)
    return path


def a_big_maildir(path: Path, *, mails: int, spam: int) -> Path:
    """Many labelled mails, every one different; the spam lies evenly among them."""
    for name in ("cur", "new", "tmp"):
        (path / name).mkdir(parents=True)
    every = mails // spam
    for number in range(1, mails + 1):
        is_spam = number % every == 0 and number // every <= spam
        lure = f"You have WON prize {number}! Call 0906{number:07d} now to claim, 150p/min"
        text = lure if is_spam else f"Are we on for lunch at table {number}?"
        label = "spam" if is_spam else "ham"
        head = f"From: writer{number % 97}@example.org\nSubject: No. {number}\nX-Inbox-Label: {label}\n"
        (path / "new" / f"1700{number:08d}.M1.host").write_text(f"{head}\n{text}\n", "utf-8")
    return path


def everything_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content, to see that nothing changed."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
