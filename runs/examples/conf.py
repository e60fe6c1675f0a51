"""What the bundled workflows take from the settings, read when it is needed."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where copies of inboxes stand, and which language model may be asked."""

    inboxes: Path
    model_url: str
    model_name: str
    model_key: str
    sender: str


def surroundings() -> Surroundings:
    return Surroundings(
        inboxes=Path(settings.VAR_DIR) / "inboxes",
        model_url=getattr(settings, "MODEL_URL", "") or "",
        model_name=getattr(settings, "MODEL_NAME", "") or "",
        model_key=getattr(settings, "MODEL_KEY", "") or "",
        sender=settings.DEFAULT_FROM_EMAIL,
    )
