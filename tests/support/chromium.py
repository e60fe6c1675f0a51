"""A real Chromium for tests: the one that this machine has, never a downloaded one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.absent import absent

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# What a browser may take over one thing, in ms.
BROWSER_PATIENCE = 60_000.0
FLAGS = ["--disable-dev-shm-usage", "--disable-background-networking"]


@contextmanager
def chromium() -> Iterator["Browser"]:
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise absent("chromium", because=f"none of {', '.join(NAMES)} is on this machine")
    from playwright.sync_api import sync_playwright

    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=flags)
        try:
            yield browser
        finally:
            browser.close()
