"""Django's settings, made from what the environment says (config/environment.py)."""

import os
import sys
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.environment import ROOT, Environment, WrongSetting

try:
    ENVIRONMENT = Environment.read(os.environ)
except WrongSetting as wrong:
    sys.stderr.write(f"milepost: {wrong}\n")
    raise SystemExit(2) from None

# The machine
BASE_DIR = ROOT
VAR_DIR = ENVIRONMENT.var_dir
HOST, PORT = ENVIRONMENT.host, ENVIRONMENT.port
WORKERS = ENVIRONMENT.workers
LEASE_SECONDS = ENVIRONMENT.lease_seconds
SITE_URL, BEAT_SECONDS = ENVIRONMENT.site_url, ENVIRONMENT.beat_seconds
WATCHDOG_URL, METRICS_TOKEN = ENVIRONMENT.watchdog_url, ENVIRONMENT.metrics_token
PING_KEY_MONITORS, KEEP_DAYS = ENVIRONMENT.ping_key_monitors, ENVIRONMENT.keep_days
MODEL_URL, MODEL_NAME = ENVIRONMENT.model_url, ENVIRONMENT.model_name
MODEL_KEY = ENVIRONMENT.model_key
REDIS_URL = ENVIRONMENT.redis_url
CHANNEL_NETWORKS = ENVIRONMENT.channel_networks
CHANNEL_SCHEMES = ENVIRONMENT.channel_schemes

# The application
DEBUG = ENVIRONMENT.debug
SECRET_KEY = ENVIRONMENT.secret_key
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
WORKFLOW_APPS = ENVIRONMENT.workflow_apps
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django_tables2",
    "django_filters",
    "django_q",
    "config",
    "runs",
    "runs.examples",
    "approvals",
    "monitors",
    *WORKFLOW_APPS,
]
MIDDLEWARE = [
    # First: a ping needs nothing of what pages need, and is answered before any of it.
    "monitors.heartbeats.take_pings",
    "config.request_ids.identified",
    "django.middleware.security.SecurityMiddleware",
    "config.security.headers",
    "config.security.without_nul",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "runs.web.Reader",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "runs.web.shell.shell",
            ],
        },
    },
]

# The database
SQLITE = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
}
POSTGRESQL = {
    # A lock that is not had within this time is an error, never a silent stall.
    "options": "-c lock_timeout=30s",
    "application_name": "milepost",
    # A cut cable is noticed in about 25 s, not in the two hours of the system's default.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


def _database() -> dict[str, Any]:
    said = ENVIRONMENT.database
    if said["ENGINE"] == "django.db.backends.sqlite3":
        options = {**SQLITE, **said.get("OPTIONS", {})}
        return {**said, "CONN_MAX_AGE": 600, "OPTIONS": options}
    from psycopg import IsolationLevel

    options = {**POSTGRESQL, **said.get("OPTIONS", {})}
    options["isolation_level"] = IsolationLevel.READ_COMMITTED
    if "pool" in options:
        raise ImproperlyConfigured("A psycopg pool hangs the cluster; take `pool` out.")
    return {**said, "CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}


DATABASES = {"default": _database()}

# The queue: a bell and nothing more, so both limits lie far above any step.
Q_CLUSTER: dict[str, Any] = {
    "name": "milepost",
    "workers": WORKERS,
    "queue_limit": 1,
    "bulk": 1,
    "timeout": 86_400,
    "retry": 180_000,
    "ack_failures": True,
    "max_attempts": 1,
    "save_limit": -1,
    "recycle": 1000,
    "max_rss": 400_000,
    "guard_cycle": 0.5,
    "scheduler": False,
    "catch_up": False,
    "daemonize_workers": True,
    "log_level": "WARNING",
    "poll": 1.0,
}
if REDIS_URL:
    Q_CLUSTER |= {"broker_class": "runs.dispatch.brokers.Redis", "redis": REDIS_URL}
elif DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    Q_CLUSTER |= {"broker_class": "runs.dispatch.brokers.SqliteWatch", "orm": "default"}
else:
    Q_CLUSTER |= {"broker_class": "runs.dispatch.brokers.PgNotify", "orm": "default"}
RUNS_DOORBELL = "runs.dispatch.bell"
RUNS_SITE = "config.serving.site_here"

# Files
STATIC_URL = "static/"
STATICFILES_DIRS = [ROOT / "static"]
STATIC_ROOT = VAR_DIR / "static"
MEDIA_ROOT = VAR_DIR / "artifacts"
_HASHED = "whitenoise.storage.CompressedManifestStaticFilesStorage"
_PLAIN = "django.contrib.staticfiles.storage.StaticFilesStorage"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _PLAIN if DEBUG else _HASHED},
}
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG

# Mail: into a folder, unless told where to
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = str(VAR_DIR / "mail")
EMAIL_TIMEOUT = 20  # below what ends a courier, so that a silent server is named
globals().update(ENVIRONMENT.email)
DEFAULT_FROM_EMAIL = SERVER_EMAIL = ENVIRONMENT.email_from

# Time and language
LANGUAGE_CODE = "en"
TIME_ZONE = ENVIRONMENT.time_zone
USE_TZ = True

# Signing in
LOGIN_URL = "signin"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "signin"
PASSWORD_RESET_TIMEOUT = 3600  # how long a sign-in link lives
SESSION_ENGINE = "django.contrib.sessions.backends.db"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Safety
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = ENVIRONMENT.behind_tls
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENVIRONMENT.behind_tls else None
SECURE_HSTS_SECONDS = 31_536_000 if ENVIRONMENT.behind_tls else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = ENVIRONMENT.behind_tls
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]

# What is said while it works
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"events": {"()": "config.logs.EventFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "events"}},
    "root": {"handlers": ["stderr"], "level": ENVIRONMENT.log_level},
    "loggers": {
        "django": {"handlers": [], "level": ENVIRONMENT.log_level, "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        "django-q": {"level": "WARNING"},
        # What these say holds the addresses of channels, which are secrets.
        **{
            name: {"level": "CRITICAL", "propagate": False}
            for name in ("apprise", "urllib3", "requests", "requests_oauthlib")
        },
    },
}
