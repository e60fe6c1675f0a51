"""What the environment says, read once, typed; a wrong value is named in one sentence.

A relative path counts from the project's folder, where every program that `up` starts stands.
"""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self
from urllib.parse import urlsplit
from zoneinfo import available_timezones

import environ

ROOT = Path(__file__).resolve().parent.parent
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}
# Services of apprise that are at their vendors' own, public addresses.
HOSTED_SCHEMES = "discord,gchat,opsgenie,pagerduty,pover,slack,tgram,twilio,wxteams"
DATABASES_ARE = "say sqlite:////absolute/path or postgresql://user:password@host:5432/name"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class WrongSetting(Exception):
    """A value in the environment cannot be used; the message says which, why, and what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Every value that Milepost takes from its surroundings."""

    debug: bool
    secret_key: str
    allowed_hosts: tuple[str, ...]
    behind_tls: bool
    var_dir: Path
    host: str
    port: int
    time_zone: str
    log_level: str
    database: dict[str, Any]
    redis_url: str
    email: dict[str, Any]
    email_from: str
    workflow_apps: tuple[str, ...]
    workers: int
    lease_seconds: int
    site_url: str
    beat_seconds: int
    watchdog_url: str
    metrics_token: str
    ping_key_monitors: int
    keep_days: int
    model_url: str
    model_name: str
    model_key: str
    channel_networks: tuple[str, ...]
    channel_schemes: tuple[str, ...]

    @classmethod
    def read(cls, values: Mapping[str, str]) -> Self:
        read = _Reader(values)
        var_dir = ROOT / read.text("VAR_DIR", "var")
        return cls(
            debug=read.flag("DEBUG", default=False),
            secret_key=_secret_key(read, var_dir),
            allowed_hosts=read.listed("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]"),
            behind_tls=read.flag("BEHIND_TLS", default=False),
            var_dir=var_dir,
            host=read.text("HOST", "127.0.0.1").strip("[]"),
            port=read.number("PORT", 8000, low=1, high=65535),
            time_zone=read.choice("TIME_ZONE", "UTC", available_timezones()),
            log_level=read.choice("LOG_LEVEL", "INFO", LEVELS),
            database=read.database(var_dir),
            redis_url=read.address("REDIS_URL", ("redis", "rediss", "unix")),
            email=read.email(),
            email_from=read.text("EMAIL_FROM", "milepost@localhost"),
            workflow_apps=read.apps("WORKFLOW_APPS"),
            workers=read.number("WORKERS", 2, low=1, high=256),
            lease_seconds=read.number("LEASE_SECONDS", 15, low=3, high=3600),
            site_url=read.address("SITE_URL", ("http", "https")),
            beat_seconds=read.number("BEAT_SECONDS", 10, low=0, high=3600),
            watchdog_url=read.address("WATCHDOG_URL", ("http", "https")),
            metrics_token=read.text("METRICS_TOKEN", ""),
            ping_key_monitors=read.number("PING_KEY_MONITORS", 500, low=0, high=100_000),
            # Not less than the longest bar of beats shows.
            keep_days=read.number("KEEP_DAYS", 180, low=100, high=36_500),
            model_url=read.address("MODEL_URL", ("http", "https")),
            model_name=read.text("MODEL_NAME", ""),
            model_key=read.text("MODEL_KEY", ""),
            channel_networks=read.networks("CHANNEL_NETWORKS"),
            channel_schemes=read.listed("CHANNEL_SCHEMES", HOSTED_SCHEMES),
        )


class _Reader:
    """Reads one value at a time; each method refuses what it cannot use."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def text(self, name: str, default: str) -> str:
        return self._values.get(name, "").strip() or default

    def listed(self, name: str, default: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.text(name, default).split(",") if part.strip())

    def flag(self, name: str, *, default: bool) -> bool:
        said = self._values.get(name, str(default)).strip().lower()
        if said not in TRUE | FALSE:
            raise WrongSetting(f"{name} is {said!r}; say 1 or 0.")
        return said in TRUE

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        said = self.text(name, str(default))
        if not said.isascii() or not said.isdigit() or not low <= int(said) <= high:
            raise WrongSetting(f"{name} is {said!r}; say a whole number from {low} to {high}.")
        return int(said)

    def choice(self, name: str, default: str, allowed: set[str] | tuple[str, ...]) -> str:
        said = self.text(name, default)
        if said not in allowed:
            known = f"one of {', '.join(allowed)}" if len(allowed) < 20 else "a known name"
            raise WrongSetting(f"{name} is {said!r}; say {known}.")
        return said

    def address(self, name: str, schemes: tuple[str, ...]) -> str:
        said = self.text(name, "")
        if said and not _is_address(said, schemes):
            wanted = " or ".join(f"{scheme}://" for scheme in schemes)
            raise WrongSetting(f"{name} is {said!r}; say an address that starts with {wanted}.")
        return said

    def apps(self, name: str) -> tuple[str, ...]:
        """Only the first part is looked for: to look for more would import it."""
        said = self.listed(name, "")
        for app in said:
            first = app.partition(".")[0]
            if not first or find_spec(first) is None:
                raise WrongSetting(
                    f"{name} names {app!r}, which Python does not find; say modules, such as "
                    "tidy_inbox, that are in the folder of manage.py or on PYTHONPATH."
                )
        return said

    def networks(self, name: str) -> tuple[str, ...]:
        said = self.listed(name, "")
        for network in said:
            try:
                ip_network(network)
            except ValueError as wrong:
                raise WrongSetting(
                    f"{name} names {network!r}: {wrong}; say networks such as 10.1.0.0/16,fd00::/8."
                ) from None
        return said

    def database(self, var_dir: Path) -> dict[str, Any]:
        said = self.text("DATABASE_URL", "")
        if not said:
            _made(var_dir)
            said = f"sqlite:///{var_dir / 'milepost.sqlite3'}"
        scheme = urlsplit(said).scheme
        if scheme not in {"sqlite", "postgres", "postgresql"}:
            raise WrongSetting(f"DATABASE_URL starts with {scheme!r}; {DATABASES_ARE}.")
        # Neither value is repeated: both may hold a password.
        try:
            read = dict(environ.Env.db_url_config(said))
        except ValueError as wrong:
            raise WrongSetting(f"DATABASE_URL cannot be read: {wrong}; {DATABASES_ARE}.") from None
        if not read["NAME"]:
            raise WrongSetting(f"DATABASE_URL names no database; {DATABASES_ARE}.")
        if scheme == "sqlite" and not read["NAME"].startswith((":memory:", "file:")):
            read["NAME"] = str(ROOT / read["NAME"])
        return read

    def email(self) -> dict[str, Any]:
        said = self.text("EMAIL_URL", "")
        if said and urlsplit(said).scheme not in environ.Env.EMAIL_SCHEMES:
            known = ", ".join(sorted(environ.Env.EMAIL_SCHEMES))
            raise WrongSetting(f"EMAIL_URL is {said!r}; it may start with {known}.")
        if not said:
            return {}
        try:
            settings = dict(environ.Env.email_url_config(said))
        except ValueError as wrong:
            raise WrongSetting(f"EMAIL_URL cannot be read: {wrong}.") from None
        # It drops the first slash of filemail:///srv/mail, which would make the folder a relative one.
        if settings["EMAIL_FILE_PATH"]:
            settings["EMAIL_FILE_PATH"] = "/" + settings["EMAIL_FILE_PATH"]
        return settings

    def secret_file(self, name: str) -> str:
        path = ROOT / self.text(name, "")
        try:
            return path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise WrongSetting(f"{name} is {str(path)!r}, which cannot be read: {error}.") from None


def _is_address(said: str, schemes: tuple[str, ...]) -> bool:
    try:
        found = urlsplit(said)
        named = found.hostname or found.scheme == "unix"
        return found.scheme in schemes and bool(named) and found.port != 0
    except ValueError:
        return False


def _secret_key(read: _Reader, var_dir: Path) -> str:
    key = read.text("SECRET_KEY", "")
    if not key:
        named = read.text("SECRET_KEY_FILE", "")
        key = read.secret_file("SECRET_KEY_FILE") if named else _kept_key(var_dir / "secret_key")
    if len(key) < 32:
        raise WrongSetting("The secret key is shorter than 32 characters; say a longer SECRET_KEY.")
    return key


def _kept_key(path: Path) -> str:
    """The key of this `var`, made on first use; two first uses at once agree on one."""
    _made(path.parent)
    if not path.exists():
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(64), encoding="ascii")
        # A link appears whole or not at all, so a second process never reads half a key.
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text(encoding="ascii").strip()


def _made(var_dir: Path) -> None:
    try:
        var_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryFile(dir=var_dir):
            pass
    except OSError as error:
        raise WrongSetting(
            f"VAR_DIR is {str(var_dir)!r}, which cannot be written: {error.strerror}."
        ) from None
