"""The receiver of reports: Django's mail backend, under a Message-ID made from the call's key."""

from email import message_from_bytes
from pathlib import Path
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPSenderRefused
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection

from runs.definition import NotSent, Refused

FILE_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
BETWEEN_MAILS = b"\n" + b"-" * 79 + b"\n"


class CannotBeLookedUp(Exception):
    """This mail backend keeps nothing that could be searched; a person has to look."""


def send(request: dict[str, Any], /, *, key: str, timeout: float) -> dict[str, str]:
    """Hand one mail to the mail backend."""
    message_id = message_id_of(key)
    mail = EmailMultiAlternatives(
        subject=request["subject"],
        body=request["text"],
        from_email=request["from"],
        to=[request["to"]],
        headers={"Message-ID": message_id},
    )
    if request.get("html"):
        mail.attach_alternative(request["html"], "text/html")
    _require_sendable(mail)
    connection = _opened(timeout)
    try:
        connection.send_messages([mail])
    except (SMTPRecipientsRefused, SMTPSenderRefused) as error:
        raise Refused(f"the mail server refused the mail: {error}") from error
    finally:
        connection.close()
    return {"id": message_id}


def _require_sendable(mail: EmailMessage) -> None:
    """A backend takes a mail to nobody without a word, and fails halfway on one it cannot write."""
    if not any(to.strip() for to in mail.to):
        raise Refused("the mail names nobody to send it to")
    try:
        mail.message()
    except ValueError as error:
        raise Refused(f"this cannot be written as a mail: {error}") from error


def _opened(timeout: float) -> Any:
    try:
        connection = get_connection(timeout=timeout)
        connection.open()
    except (OSError, SMTPException, ImproperlyConfigured) as error:
        raise NotSent(f"the mail server cannot be reached: {error}") from error
    return connection


def find(key: str, request: dict[str, Any], /) -> dict[str, str] | None:
    """The mail that a call with this key left in the folder of mails, if it is there whole."""
    if settings.EMAIL_BACKEND != FILE_BACKEND:
        raise CannotBeLookedUp(f"{settings.EMAIL_BACKEND} cannot be searched for a mail")
    message_id = message_id_of(key)
    for path in sorted(Path(settings.EMAIL_FILE_PATH).glob("*.log")):
        # What is behind the last separator was cut off by a crash and has not been sent.
        for mail in path.read_bytes().split(BETWEEN_MAILS)[:-1]:
            if str(message_from_bytes(mail)["Message-ID"]).strip() == message_id:
                return {"id": message_id}
    return None


def message_id_of(key: str) -> str:
    return f"<{key}@milepost.invalid>"
