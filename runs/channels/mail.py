"""Notices by mail, through whatever mail backend Django is set up with."""

from typing import Any

from django.core.mail import EmailMessage


def deliver(message_id: str, payload: dict[str, Any]) -> None:
    """Send one notice; its Message-ID is made of the stable id, so that a repeat is recognised."""
    EmailMessage(
        subject=payload["title"],
        body=f"{payload['title']}\n\n{payload['link']}\n",
        to=payload["to"],
        headers={"Message-ID": f"<{message_id}@milepost>"},
    ).send()
