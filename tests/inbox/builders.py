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


def everything_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content, to see that nothing changed."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
