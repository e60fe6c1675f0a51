"""Notices by mail, through whatever mail backend Django is set up with."""

from django.core.mail import EmailMessage

from runs.channels.notice import Notice


def deliver(notice: Notice) -> str:
    """Send one notice; its Message-ID is made of the stable id, so that a repeat is recognised."""
    sent = EmailMessage(
        subject=notice.title,
        body=f"{notice.title}\n\n{notice.link}\n",
        to=list(notice.to),
        headers={"Message-ID": f"<{notice.id}@milepost>"},
    ).send()
    return f"the mail server took it for {len(notice.to)} people" if sent else "nobody was named"
