"""Raw SQL against the guards: each invariant that the database itself keeps is refused when it is broken."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction
from pytest_django import DjangoDbBlocker

from tests.durability.worlds import World, a_world

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A statement that would break an invariant; `{run}` is the run's id as the database writes it."""

    sentence: str
    sql: str
    refused: str
    on: str = "asking"


WHOLE = "whole"
NOBODY = UUID(int=1)
ATTEMPTS = [
    Attempt(
        sentence="I1 a finished step gets other facts",
        sql="UPDATE runs_step SET facts = '{{}}x' WHERE run_id = {run} AND state = 'succeeded'",
        refused="I1",
    ),
    Attempt(
        sentence="I1 a finished step runs again",
        sql="UPDATE runs_step SET state = 'running' WHERE run_id = {run} AND state = 'succeeded'",
        refused="I1",
    ),
    Attempt(
        sentence="I1 a step has a second current result",
        sql="INSERT INTO runs_step (run_id, key, scope, ordinal, generation, superseded, state,"
        " attempt, failures, crashes, fence, facts, facts_digest, cursor_ordinal, cursor_token,"
        " error_class, error) SELECT run_id, key, scope, ordinal, generation + 1, superseded,"
        " state, attempt, failures, crashes, {fence}, facts, facts_digest, cursor_ordinal,"
        " cursor_token, error_class, error FROM runs_step WHERE run_id = {run} AND ordinal = 1",
        refused="unique|UNIQUE|I1",
    ),
    Attempt(
        sentence="I3 a step is written under an old fence",
        sql="UPDATE runs_step SET progress_done = 7, fence = {fence} - 1 WHERE run_id = {run}"
        " AND state <> 'succeeded'",
        refused="I3",
    ),
    Attempt(
        sentence="I3 a step is written under a fence nobody has",
        sql="UPDATE runs_step SET progress_done = 7, fence = {fence} + 1 WHERE run_id = {run}"
        " AND state <> 'succeeded'",
        refused="I3",
    ),
    Attempt(
        sentence="I3 a judgement is added under an old fence",
        sql="INSERT INTO runs_judgement (run_id, step, scope, generation, fence, input_hash,"
        " question, by, answer, cost, at) SELECT run_id, step, scope, generation, {fence} - 1,"
        " 'another', question, by, answer, cost, at FROM runs_judgement WHERE run_id = {run}"
        " LIMIT 1",
        refused="I3",
    ),
    Attempt(
        sentence="I3 a call is confirmed under an old fence",
        sql="UPDATE runs_call SET error = 'x', fence = {fence} - 1 WHERE run_id = {run}",
        refused="I3",
    ),
    Attempt(
        sentence="I3 the fence of a run goes back",
        sql="UPDATE runs_run SET fence = fence - 1 WHERE id = {run}",
        refused="I3",
    ),
    Attempt(
        sentence="I5 one resource gets a second call",
        sql="INSERT INTO runs_call (key, run_id, step, scope, generation, effect, resource,"
        " request, request_digest, irreversible, authority, state, unsent, sends, reused, attempt,"
        " fence, answer_digest, receiver_id, source, error, intended_at, sent_at) SELECT"
        " 'another', run_id, step, scope, generation, effect, resource, request, request_digest,"
        " irreversible, authority, 'intended', unsent, sends, reused, attempt, {fence}, '', '',"
        " '', '', intended_at, sent_at FROM runs_call WHERE run_id = {run} LIMIT 1",
        refused="unique|UNIQUE",
    ),
    Attempt(
        sentence="I5 a key names another request",
        sql="UPDATE runs_call SET request = '{{}}x', fence = {fence} WHERE run_id = {run}",
        refused="I5",
    ),
    Attempt(
        sentence="I5 a confirmed call is sent again",
        sql="UPDATE runs_call SET state = 'sent', fence = {fence} WHERE run_id = {run}"
        " AND state = 'confirmed'",
        refused="I5",
    ),
    Attempt(
        sentence="I5 a confirmed call gets another answer",
        sql="UPDATE runs_call SET answer = '{{}}x', fence = {fence} WHERE run_id = {run}"
        " AND state = 'confirmed'",
        refused="I5",
    ),
    Attempt(
        sentence="I7 an irreversible call has nobody's authority",
        sql="UPDATE runs_call SET irreversible = {true}, authority = '', fence = {fence}"
        " WHERE run_id = {run}",
        refused="irreversible_call_has_an_authority",
    ),
    Attempt(
        sentence="I8 the checkpoint of a run goes back",
        sql="UPDATE runs_run SET checkpoint = checkpoint - 1 WHERE id = {run}",
        refused="I8",
    ),
    Attempt(
        sentence="I8 a checkpoint gets a number that was there",
        sql="INSERT INTO runs_checkpoint (run_id, number, step, generation, finished,"
        " cursor_ordinal, cursor_token, plan_hash, version, schema, fence, keys_count,"
        " keys_digest, awaiting, output_digest, at) SELECT run_id, 0, step, generation, finished,"
        " cursor_ordinal, cursor_token, plan_hash, version, schema, {fence}, keys_count,"
        " keys_digest, awaiting, output_digest, at FROM runs_checkpoint WHERE run_id = {run}"
        " LIMIT 1",
        refused="I8",
    ),
    Attempt(
        sentence="I8 a checkpoint is changed",
        sql="UPDATE runs_checkpoint SET keys_count = 9, fence = {fence} WHERE run_id = {run}",
        refused="I8|I3",
    ),
    Attempt(
        sentence="I8 a cursor goes back",
        sql="UPDATE runs_step SET cursor_ordinal = -1, fence = {fence} WHERE run_id = {run}",
        refused="I8",
    ),
    Attempt(
        sentence="I10 a succeeded run runs again",
        sql="UPDATE runs_run SET state = 'queued', ended_at = NULL WHERE id = {run}",
        refused="I10",
        on=WHOLE,
    ),
    Attempt(
        sentence="I10 a final run gets another reason",
        sql="UPDATE runs_run SET reason = 'better so' WHERE id = {run}",
        refused="I10",
        on=WHOLE,
    ),
    Attempt(
        sentence="I10 a final run is placed",
        sql="INSERT INTO runs_assignment (run_id, from_step, state, reason, outcome, placed_at)"
        " SELECT run_id, from_step, 'placed', reason, '', placed_at FROM runs_assignment"
        " WHERE run_id = {run} LIMIT 1",
        refused="I10",
        on=WHOLE,
    ),
    Attempt(
        sentence="I10 the step of a final run is changed",
        sql="UPDATE runs_step SET error = 'x' WHERE run_id = {run}",
        refused="I10",
        on=WHOLE,
    ),
    Attempt(
        sentence="I10 a final run gets one more event",
        sql="INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at,"
        " body, salt, payload_digest, prev, hash) SELECT tenant_id, run_id, seq + 1000, kind,"
        " step, fence, actor, at, body, salt, payload_digest, prev, hash FROM runs_auditevent"
        " WHERE run_id = {run} LIMIT 1",
        refused="I10",
        on=WHOLE,
    ),
    Attempt(
        sentence="I11 a run has two open assignments",
        sql="INSERT INTO runs_assignment (run_id, from_step, state, reason, outcome, placed_at)"
        " SELECT run_id, from_step, value, reason, '', placed_at FROM runs_assignment,"
        " (SELECT 'placed' AS value UNION ALL SELECT 'claimed') AS two WHERE run_id = {run}"
        " AND fence = 1",
        refused="unique|UNIQUE",
    ),
    Attempt(
        sentence="I11 a run has two open waits",
        sql="INSERT INTO runs_wait (run_id, step, generation, name, kind, state, fence, on_due,"
        " event_name, correlation_id, subject, answer_digest, closed_by, opened_at) SELECT run_id,"
        " step, generation, 'another', kind, state, {fence}, on_due, event_name, correlation_id,"
        " subject, answer_digest, closed_by, opened_at FROM runs_wait WHERE run_id = {run}",
        refused="unique|UNIQUE",
    ),
    Attempt(
        sentence="I1 a step is of a run that is not there",
        sql="INSERT INTO runs_step (run_id, key, scope, ordinal, generation, superseded, state,"
        " attempt, failures, crashes, fence, facts, facts_digest, cursor_ordinal, cursor_token,"
        " error_class, error) SELECT {nobody}, key, scope, ordinal, generation, superseded, state,"
        " attempt, failures, crashes, fence, facts, facts_digest, cursor_ordinal, cursor_token,"
        " error_class, error FROM runs_step WHERE run_id = {run} LIMIT 1",
        refused="I1: there is no such run",
    ),
    Attempt(
        sentence="I8 a checkpoint is of a run that is not there",
        sql="INSERT INTO runs_checkpoint (run_id, number, step, generation, finished,"
        " cursor_ordinal, cursor_token, plan_hash, version, schema, fence, keys_count, keys_digest,"
        " awaiting, output_digest, at) SELECT {nobody}, number, step, generation, finished,"
        " cursor_ordinal, cursor_token, plan_hash, version, schema, fence, keys_count, keys_digest,"
        " awaiting, output_digest, at FROM runs_checkpoint WHERE run_id = {run} LIMIT 1",
        refused="I8: there is no such run",
    ),
    Attempt(
        sentence="a run gets a state that nobody knows",
        sql="UPDATE runs_run SET state = 'asleep' WHERE id = {run}",
        refused="a run is in one of its states",
    ),
    Attempt(
        sentence="a step gets a state that nobody knows",
        sql="UPDATE runs_step SET state = 'asleep', fence = {fence} WHERE run_id = {run}"
        " AND state <> 'succeeded'",
        refused="a step is in one of its states",
    ),
    Attempt(
        sentence="I10 a run is final and has not ended",
        sql="UPDATE runs_run SET state = 'cancelled' WHERE id = {run}",
        refused="I10",
    ),
    Attempt(
        sentence="I10 a run has ended and is not final",
        sql="UPDATE runs_run SET ended_at = updated_at WHERE id = {run}",
        refused="I10",
    ),
    Attempt(
        sentence="I11 a run runs in nobody's hands",
        sql="UPDATE runs_run SET state = 'running', worker_id = NULL WHERE id = {run}",
        refused="I11",
    ),
    Attempt(
        sentence="a run begins in a state that nobody knows",
        sql="INSERT INTO runs_run (id, tenant_id, workflow, version, plan_hash, reference, labels,"
        " input, input_digest, started_by, state, reason, step, step_ordinal, steps_total,"
        " generation, cancel_requested, pause_requested, fence, checkpoint, seq, head, created_at,"
        " updated_at) SELECT {nobody}, tenant_id, workflow, version, plan_hash, reference, labels,"
        " input, input_digest, started_by, 'asleep', reason, step, step_ordinal, steps_total,"
        " generation, cancel_requested, pause_requested, fence, checkpoint, seq, head, created_at,"
        " updated_at FROM runs_run WHERE id = {run}",
        refused="a run is in one of its states",
    ),
    Attempt(
        sentence="I12 an event is changed",
        sql="UPDATE runs_auditevent SET body = '{{}}x' WHERE run_id = {run}",
        refused="I12",
    ),
    Attempt(
        sentence="I12 the hash of an event is changed",
        sql="UPDATE runs_auditevent SET hash = 'x' WHERE run_id = {run}",
        refused="I12",
    ),
    Attempt(
        sentence="I12 two events take one place",
        sql="INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at,"
        " body, salt, payload_digest, prev, hash) SELECT tenant_id, run_id, seq, kind, step,"
        " fence, actor, at, body, salt, payload_digest, prev, hash FROM runs_auditevent"
        " WHERE run_id = {run} LIMIT 1",
        refused="unique|UNIQUE",
    ),
    Attempt(
        sentence="I12 a note says something else",
        sql="UPDATE runs_note SET text = 'never mind' WHERE run_id = {run}",
        refused="only withdrawn",
    ),
    Attempt(
        sentence="I12 a note that was withdrawn stands again",
        sql="UPDATE runs_note SET withdrawn_at = NULL WHERE run_id = {run}",
        refused="only withdrawn",
    ),
    Attempt(
        sentence="I12 the number of a run's last event goes back",
        sql="UPDATE runs_run SET seq = seq - 1 WHERE id = {run}",
        refused="I3, I8",
    ),
]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with django_db_blocker.unblock(), a_world() as built:
        yield built


def literal(run_id: UUID) -> str:
    return f"'{run_id.hex if connection.vendor == 'sqlite' else run_id}'"


def ready_to_try(run_id: UUID, sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT fence FROM runs_run WHERE id = {literal(run_id)}")
        (fence,) = cursor.fetchone()
    true = "1" if connection.vendor == "sqlite" else "true"
    return sql.format(run=literal(run_id), nobody=literal(NOBODY), fence=fence, true=true)


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.sentence)
def test_the_database_refuses_that(attempt: Attempt, world: World) -> None:
    statement = ready_to_try(getattr(world, attempt.on), attempt.sql)

    with (
        pytest.raises(DatabaseError, match=attempt.refused),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
