"""Workers come, renew their lease, and go."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from runs.conf import conf
from runs.ledger.commits import commits
from runs.models import Worker
from runs.queries.clock import db_now
from runs.rules.identity import ProcessIdentity
from runs.rules.plan import Plan
from runs.rules.states import WorkerState
from runs.rules.versions import plans_said

# Longer than any step's transaction should take, shorter than anybody wants to wait for it.
IDLE_IN_TRANSACTION = "60s"
NAME_SESSION = """SELECT set_config('application_name', %s, false),
    set_config('idle_in_transaction_session_timeout', %s, false)"""
PROBE_OFTEN = """SELECT set_config('tcp_keepalives_idle', '1', false),
    set_config('tcp_keepalives_interval', '1', false),
    set_config('tcp_keepalives_count', '2', false),
    set_config('tcp_user_timeout', '3000', false)"""
END_SESSIONS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = %s AND pid <> pg_backend_pid()"""


@commits("enlisted")
def enlist(
    worker_id: UUID,
    identity: ProcessIdentity,
    *,
    cluster_pid: int,
    release: str,
    plans: Sequence[Plan] = (),
) -> None:
    """A new incarnation of a worker, with its first lease."""
    now = db_now()
    Worker.objects.create(
        id=worker_id,
        host=identity.host,
        boot_id=identity.boot_id,
        pid_namespace=identity.pid_namespace,
        pid=identity.pid,
        pid_started=identity.started,
        cluster_pid=cluster_pid,
        release=release,
        plans=plans_said(plans),
        started_at=now,
        renewed_at=now,
        lease_until=now + conf().lease,
    )


@commits("lease_renewed")
def renew(worker_id: UUID, *, memory_kb: int) -> bool:
    """Prolong the lease of everything this worker holds; False when it was declared lost."""
    now = db_now()
    until = now + conf().lease
    return bool(
        Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value).update(
            renewed_at=now, lease_until=until, memory_kb=memory_kb
        )
    )


def name_session(worker_id: UUID) -> None:
    """Let the server know whose session this is, and end it when it idles in a transaction (R19)."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(NAME_SESSION, [_session_of(worker_id), IDLE_IN_TRANSACTION])


def end_sessions(worker_id: UUID) -> None:
    """End what a lost worker has open on the server: a transaction of its would block its takeover."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(END_SESSIONS, [_session_of(worker_id)])


@commits("lock_committed", when=bool)
def hold_lock(worker_id: UUID, key: int) -> bool:
    """Take the session lock that tells every host that this worker lives, and say that it is held.

    The server probes the connection often: one to a machine that has gone must not look alive.
    """
    with connection.cursor() as cursor:
        cursor.execute(PROBE_OFTEN)
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        if not cursor.fetchone()[0]:
            return False
    return bool(
        Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value).update(lock_key=key)
    )


@commits("lock_committed")
def forget_lock(worker_id: UUID) -> None:
    """From now on only its lease says that this worker lives."""
    Worker.objects.filter(pk=worker_id).update(lock_key=None)


def _session_of(worker_id: UUID) -> str:
    return f"milepost {worker_id}"


@commits("retired")
def retire(worker_id: UUID, *, because: str) -> None:
    """A worker that ends by itself, holding nothing."""
    now = db_now()
    Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value).update(
        state=WorkerState.ENDED.value, ended_at=now, lease_until=now, end_reason=because
    )


@commits("loss_declared", when=bool)
def declare_lost(worker_id: UUID, *, because: str, only_if_expired: bool) -> bool:
    """Say that a worker is gone, once; False when it renewed or somebody else said so (R21)."""
    now = db_now()
    rows = Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value)
    if only_if_expired:
        rows = rows.filter(lease_until__lt=now)
    return bool(
        rows.update(
            state=WorkerState.LOST.value, ended_at=now, lease_until=now, end_reason=because[:300]
        )
    )


@commits("death_proven")
def prove_dead(worker_id: UUID) -> None:
    """Nothing that this worker was sending can still be sent (R1)."""
    Worker.objects.filter(pk=worker_id).update(proven_dead=True)


@commits("drain_committed")
def drain(worker_id: UUID) -> bool:
    """Let a worker finish what it holds and take nothing more."""
    return bool(
        Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value).update(draining=True)
    )


@commits("leases_extended")
def extend_leases() -> int:
    """After an outage nobody is dead yet: every lease gets one full period (R25)."""
    until = db_now() + conf().lease
    return Worker.objects.filter(state=WorkerState.LIVE.value, lease_until__lt=until).update(
        lease_until=until
    )
