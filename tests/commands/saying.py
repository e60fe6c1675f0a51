"""Run a command inside the test and hear what it said, where, and which number it ended with."""

import json
from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.core.management import CommandError, call_command


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """`err` is what went beside the answer, and the sentence of a refusal."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def manage(*words: object, terminal: bool = False) -> Said:
    out, err = StringIO(), Terminal() if terminal else StringIO()
    code, refusal = 0, ""
    try:
        call_command(*map(str, words), stdout=out, stderr=err)
    except CommandError as refused:
        code, refusal = refused.returncode, str(refused)
    except SystemExit as ended:
        code = int(ended.code or 0)
    return Said(code=code, out=out.getvalue(), err=err.getvalue() + refusal)
