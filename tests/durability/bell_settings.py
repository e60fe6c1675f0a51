"""The site's settings, with a stand-in behind the doorbell, so that the cluster is tested by itself."""

from config.settings import *  # noqa: F403
from config.settings import Q_CLUSTER as SITES

RUNS_DISPATCH = {
    hook: f"tests.durability.bells.{hook}" for hook in ("work", "enlist", "delist", "unclaimed")
}
Q_CLUSTER = {**SITES, "recycle": 20}
