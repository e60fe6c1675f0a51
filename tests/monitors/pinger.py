"""Sends pings as fast as it can, from a process of its own: ADDRESS COUNT; prints what was answered."""

import json
import sys
import urllib.error
import urllib.request
from collections import Counter


def main(address: str, count: int) -> None:
    answered: Counter[str] = Counter()
    for number in range(count):
        word = ("", "/start", "/fail", "/log", "/0")[number % 5]
        data = b"line" * number if number % 2 else None
        try:
            with urllib.request.urlopen(address + word, data=data, timeout=60) as answer:
                answered[str(answer.status)] += 1
        except urllib.error.HTTPError as error:
            answered[str(error.code)] += 1
        except OSError as error:
            answered[type(error).__name__] += 1
    print(json.dumps(answered))  # noqa: T201 - for the test that started this


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
