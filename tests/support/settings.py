"""Django's settings for tests: the site's own, in a scratch directory, on the database asked for.

TEST_DATABASE=sqlite (a file, because real programs open it too) or postgresql.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

SCRATCH = Path(tempfile.mkdtemp(prefix="milepost-tests-"))
SCRATCH.chmod(0o755)
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
TEST_DATABASE = os.environ.get("TEST_DATABASE", "sqlite")
if TEST_DATABASE not in {"sqlite", "postgresql"}:
    raise SystemExit(f"TEST_DATABASE is {TEST_DATABASE!r}; say sqlite or postgresql.")

OUR_OWN = (
    "ALLOWED_HOSTS BEAT_SECONDS BEHIND_TLS CHANNEL_NETWORKS CHANNEL_SCHEMES DEBUG EMAIL_FROM EMAIL_URL HOST "
    "KEEP_DAYS LEASE_SECONDS LOG_LEVEL METRICS_TOKEN MODEL_KEY MODEL_NAME MODEL_URL PING_KEY_MONITORS PORT REDIS_URL SECRET_KEY "
    "SECRET_KEY_FILE SITE_URL TIME_ZONE WATCHDOG_URL WORKERS WORKFLOW_APPS"
)
for name in OUR_OWN.split():
    os.environ.pop(name, None)
os.environ["VAR_DIR"] = str(SCRATCH / "var")
# Workers inside the tests' own process have nobody who would hear them.
os.environ["BEAT_SECONDS"] = "0"
os.environ["SECRET_KEY"] = "only-for-tests-" + "0" * 32
os.environ["DATABASE_URL"] = (
    f"sqlite:///{SCRATCH / 'unused.sqlite3'}"
    if TEST_DATABASE == "sqlite"
    # The fixture `postgresql_server` puts the real host and port in their place.
    else "postgresql://postgres@127.0.0.1:1/milepost"
)

from config.settings import *  # noqa: E402, F403
from config.settings import DATABASES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if TEST_DATABASE == "sqlite":
    DATABASES["default"]["TEST"] = {"NAME": str(SCRATCH / "test.sqlite3")}
