"""Which Milepost this is: the newest heading of the changelog."""

import re
from functools import cache

from config.environment import ROOT


@cache
def version() -> str:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## \[(\d[^\]]*)\]", text, re.MULTILINE)
    return found[1] if found else "0"
