"""What every test may ask for by name."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker

from runs.conf import conf
from runs.ledger.tenants import DEFAULT as DEFAULT_TENANT
from runs.models import Tenant
from tests.support.chromium import BROWSER_PATIENCE, chromium
from tests.support.legs import label_lines
from tests.support.postgresql import PostgresServer, flush_quickly, postgresql
from tests.support.programs import Site
from tests.support.redis_server import RedisServer, redis

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

# Playwright keeps an event loop in this thread, which Django would take for an async caller.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# Invented input is the same each time but for `make test-long`, and no example has to be quick: both
# legs of the suite share two processors.
hypothesis_settings.register_profile(
    "patient",
    deadline=None,
    derandomize="MILEPOST_LONG" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("patient")


def pytest_sessionstart(session: pytest.Session) -> None:
    label_lines(session.config)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server, whichever database the suite runs on."""
    with postgresql() as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    with redis() as server:
        yield server


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest) -> None:
    """Points the suite at the PostgreSQL server, if that is what it runs on."""
    default = settings.DATABASES["default"]
    if default["ENGINE"] == "django.db.backends.postgresql":
        server: PostgresServer = request.getfixturevalue("postgresql_server")
        default |= {
            "HOST": server.host,
            "PORT": str(server.port),
            "USER": server.user,
            "PASSWORD": server.password,
        }
        default["TEST"] = {**default.get("TEST", {}), "NAME": f"test_milepost_{os.getpid()}"}


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The database of the session, emptied quickly after each test that needs it."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        # Without a test that asks for it none was made: others bring databases of their own.
        made = str(connection.settings_dict["NAME"]).startswith("test_")
        if connection.vendor == "postgresql" and made:
            flush_quickly(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def collected_static_files() -> None:
    """Pages name hashed files, so a missing file fails the test of the page that names it."""
    call_command("collectstatic", interactive=False, verbosity=0)


@pytest.fixture(scope="session", autouse=True)
def _no_pass_is_cut_short() -> Iterator[None]:
    """A test that makes one pass itself means all of it, however long the machine stood still."""
    with pytest.MonkeyPatch.context() as patch:
        for duty in ("firing", "ordered"):
            patch.setattr(f"runs.engine.{duty}.LONGEST_TURN", 600.0)
        yield


@pytest.fixture(autouse=True)
def _settings_are_read_anew() -> Iterator[None]:
    """What one test set is not what the next one reads: this ends behind `settings`."""
    yield
    conf.cache_clear()


@pytest.fixture
def site(transactional_db: None, tmp_path: Path) -> Iterator[Site]:
    """An installation whose programs share the test's own database."""
    # The test before may have emptied every table, this one of the first migration among them.
    Tenant.objects.get_or_create(slug=DEFAULT_TENANT)
    url = _address_of(connections["default"].settings_dict)
    with _ended(Site(var=tmp_path / "var", database_url=url)) as there:
        yield there


@pytest.fixture
def empty_site(tmp_path: Path) -> Iterator[Site]:
    """An installation that nobody has set up: no `var`, an SQLite database of its own."""
    var = tmp_path / "var"
    with _ended(Site(var=var, database_url=f"sqlite:///{var / 'milepost.sqlite3'}")) as there:
        yield there


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite database with every table and no row but those of the migrations, to be copied."""
    file = tmp_path_factory.mktemp("migrated") / "milepost.sqlite3"
    made = Site(var=file.parent, database_url=f"sqlite:///{file}").manage("migrate", "-v", "0")
    assert made.code == 0, made.err
    return file


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(BROWSER_PATIENCE)
    yield context.new_page()
    context.close()


@pytest.fixture
def complaints(page: "Page") -> list[str]:
    """What the browser complained about, such as something that the policy blocked."""
    said: list[str] = []

    def listen(message: "ConsoleMessage") -> None:
        if message.type in {"error", "warning"}:
            said.append(message.text)

    page.on("console", listen)
    return said


@contextmanager
def _ended(site: Site) -> Iterator[Site]:
    try:
        yield site
    finally:
        site.end()


def _address_of(database: dict[str, str]) -> str:
    if database["ENGINE"] == "django.db.backends.sqlite3":
        return f"sqlite:///{database['NAME']}"
    secret = f":{database['PASSWORD']}" if database["PASSWORD"] else ""
    return f"postgresql://{database['USER']}{secret}@{database['HOST']}:{database['PORT']}/{database['NAME']}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A skip is said aloud: how many, which, why."""
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    terminalreporter.section(f"{len(skipped)} SKIPPED", sep="!", red=True, bold=True)
    for report in skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.line(f"{report.nodeid}: {reason}", yellow=True)
