"""What a run was started with, whatever its input has been corrected to since."""

import json

from runs.models import AuditEvent, Run


def first_input_digest(run: Run) -> str:
    """The digest that its first event names; the present one where that body was erased."""
    first = AuditEvent.objects.filter(run=run, seq=1).values_list("body", flat=True).first()
    return str(json.loads(first)["input_digest"]) if first else run.input_digest
