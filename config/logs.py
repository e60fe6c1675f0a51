"""How a log line is written: time, level, the event's name, then its fields."""

import json
import logging
from datetime import UTC, datetime

from runs.rules.redaction import redact

# What a request carries once config/request_ids.py has seen it.
REQUEST_ID = "milepost_request_id"
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class EventFormatter(logging.Formatter):
    """`2026-01-31T10:41:07.123Z INFO lease.renewed run=7f3c fence=2`."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {name: value for name, value in vars(record).items() if name not in _OWN}
        if asked := getattr(fields.get("request"), REQUEST_ID, ""):
            fields["request_id"] = asked
        said = " ".join(f"{name}={_shown(value)}" for name, value in fields.items())
        line = f"{when.replace('+00:00', 'Z')} {record.levelname} {record.getMessage()} {said}"
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        said = "\n".join(part for part in (line.rstrip(), trace) if part)
        return redact(said, secrets={})


def _shown(value: object) -> str:
    text = str(value)
    return text if text and text.isprintable() and " " not in text else json.dumps(text)
