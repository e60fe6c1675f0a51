"""$title: what it does, step by step."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from django.conf import settings

from runs.definition import Contract, Effect, Run, Workflow, step


def write_letter(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    """The receiver: a folder. The call's key names the file, so a second sending changes nothing."""
    folder = Path(settings.MEDIA_ROOT) / "$name"
    folder.mkdir(parents=True, exist_ok=True)
    letter = folder / f"{key}.txt"
    letter.write_text(request["text"], encoding="utf-8")
    return {"id": letter.name}


send_letter = Effect(
    "$name.send_letter",
    send=write_letter,
    contract=Contract("Writing the same file again changes nothing.", window=None),
    timeout=timedelta(seconds=10),
    reversible="The file can be deleted.",
    id_of=lambda answer: answer["id"],
)


class $class_name(Workflow):
    """Write a letter, and send it."""

    name, version = "$name", 1

    class Input:
        who: Annotated[str, "Who gets the letter."]

    @step(reads=["who"], writes=["letter"])
    def write(self, run: Run) -> None:
        """Compose the letter; nothing leaves yet."""
        run.write("letter", {"to": run.read("who"), "text": f"Dear {run.read('who')}, hello."})

    @step(reads=["letter"], writes=["receipt"], effects=[send_letter])
    def send(self, run: Run) -> None:
        """Send it once, whatever happens in between."""
        letter = run.read("letter")
        answer = run.call(send_letter, resource=letter["to"], request={"text": letter["text"]})
        run.write("receipt", answer["id"])
