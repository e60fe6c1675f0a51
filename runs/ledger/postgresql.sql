-- What an event's hash covers: the same parts, in the same order, as runs.rules.chain.link.
-- A plain expression, so that PostgreSQL writes it into the statement that calls it.
CREATE OR REPLACE FUNCTION runs_link(
    p_prev text, p_seq bigint, p_at text, p_kind text, p_step text, p_fence bigint, p_actor text,
    p_payload text
) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(convert_to(p_prev || chr(10) || p_seq || chr(10) || p_at || chr(10)
        || p_kind || chr(10) || p_step || chr(10) || p_fence || chr(10) || p_actor || chr(10)
        || p_payload, 'UTF8')), 'hex')
$$;

-- A new run with its first event, its first step and its place on the list of work; where the bell
-- is a table, it rings as well, so that a start is one round trip. Writes nothing and answers null
-- where there is no such tenant, or the version was never started with this plan.
CREATE OR REPLACE FUNCTION runs_start(
    p_run uuid, p_tenant text, p_workflow text, p_version int, p_plan text, p_reference text,
    p_labels text, p_start_key text, p_input text, p_input_digest text, p_by text, p_step text,
    p_scope text, p_total int, p_body text, p_salt text, p_offset interval,
    p_bell text, p_message text, p_enough int
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ts timestamptz := clock_timestamp() + p_offset;
    at text := to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    digest text := encode(sha256(convert_to(p_salt || p_body, 'UTF8')), 'hex');
    hash text := runs_link('', 1, at, 'run.started', '', 0, p_by, digest);
    tenant bigint;
    placed bigint;
BEGIN
    SELECT t.id INTO tenant FROM runs_tenant t, runs_plan p
    WHERE t.slug = p_tenant AND p.hash = p_plan AND p.workflow = p_workflow
        AND p.version = p_version;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO runs_run (id, tenant_id, workflow, version, plan_hash, reference, labels,
        start_key, input, input_digest, started_by, state, reason, step, step_ordinal,
        steps_total, generation, cancel_requested, pause_requested, fence, checkpoint, seq, head,
        created_at, updated_at)
    VALUES (p_run, tenant, p_workflow, p_version, p_plan, p_reference, p_labels::jsonb,
        p_start_key, p_input, p_input_digest, p_by, 'queued', '', p_step, 1,
        p_total, 1, false, false, 0, 0, 1, hash, ts, ts);
    INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at, body, salt,
        payload_digest, prev, hash)
    VALUES (tenant, p_run, 1, 'run.started', '', 0, p_by, ts, p_body, p_salt, digest, '', hash);
    INSERT INTO runs_step (run_id, key, scope, ordinal, generation, superseded, state, attempt,
        failures, crashes, fence, facts, facts_digest, cursor_ordinal, cursor_token, error_class,
        error)
    VALUES (p_run, p_step, p_scope, 1, 1, false, 'pending', 0, 0, 0, 0, '{}', '', 0, '',
        '', '');
    INSERT INTO runs_assignment (run_id, from_step, state, reason, outcome, placed_at)
    VALUES (p_run, p_step, 'placed', 'start', '', ts)
    RETURNING id INTO placed;
    IF p_bell IS NOT NULL THEN
        PERFORM runs_ring(p_bell, p_message, p_enough);
    END IF;
    RETURN placed;
END $$;

-- Take the oldest placed assignment whose plan this worker knows; nothing when there is none.
-- Only the run's row is locked, and a locked one is passed over (R18).
CREATE OR REPLACE FUNCTION runs_claim(
    p_worker uuid, p_plans text, p_claimed_salt text, p_started_salt text, p_offset interval,
    OUT o_assignment bigint, OUT o_reason text, OUT o_run uuid, OUT o_tenant bigint,
    OUT o_fence bigint, OUT o_seq bigint, OUT o_head text, OUT o_workflow text, OUT o_version int,
    OUT o_plan text, OUT o_reference text, OUT o_input text, OUT o_generation int,
    OUT o_checkpoint int, OUT o_cancel bool, OUT o_pause bool, OUT o_step_id bigint,
    OUT o_key text, OUT o_scope text, OUT o_ordinal int, OUT o_step_generation int,
    OUT o_attempt int, OUT o_failures int, OUT o_crashes int, OUT o_cursor_ordinal bigint,
    OUT o_cursor_token text
) LANGUAGE plpgsql AS $$
DECLARE
    ts timestamptz := clock_timestamp() + p_offset;
    at text := to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    claimed text;
    started text;
    claimed_digest text;
    started_digest text;
    step_key text;
    prev text;
    between text;
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM runs_worker w WHERE w.id = p_worker AND w.state = 'live' AND NOT w.draining
    ) THEN
        RETURN;
    END IF;
    SELECT a.id, a.reason, u.id, u.tenant_id, u.fence + 1, u.seq + 2, u.head, u.workflow,
        u.version, u.plan_hash, u.reference, u.input, u.generation, u.checkpoint,
        u.cancel_requested, u.pause_requested, u.step
    INTO o_assignment, o_reason, o_run, o_tenant, o_fence, o_seq, prev, o_workflow,
        o_version, o_plan, o_reference, o_input, o_generation, o_checkpoint,
        o_cancel, o_pause, step_key
    FROM runs_assignment a JOIN runs_run u ON u.id = a.run_id
    WHERE a.state = 'placed' AND u.state = 'queued'
        AND u.plan_hash = ANY (string_to_array(p_plans, ' '))
    ORDER BY a.placed_at, a.id LIMIT 1
    FOR NO KEY UPDATE OF u SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- The guards need not look again at the run that is locked here; see runs.ledger.guards.
    PERFORM set_config('milepost.held', o_run::text, true);
    -- The assignment's row was not locked: it may have been closed while the run's was taken.
    UPDATE runs_assignment SET state = 'claimed', fence = o_fence, worker_id = p_worker,
        claimed_at = ts
    WHERE id = o_assignment AND state = 'placed';
    IF NOT FOUND THEN
        PERFORM set_config('milepost.held', '', true);
        o_run := NULL;
        RETURN;
    END IF;
    UPDATE runs_step SET state = 'running', attempt = attempt + 1, fence = o_fence,
        started_at = COALESCE(started_at, ts)
    WHERE run_id = o_run AND key = step_key AND NOT superseded
    RETURNING id, key, scope, ordinal, generation, attempt, failures, crashes, cursor_ordinal,
        cursor_token
    INTO STRICT o_step_id, o_key, o_scope, o_ordinal, o_step_generation, o_attempt, o_failures,
        o_crashes, o_cursor_ordinal, o_cursor_token;
    claimed := '{"assignment":' || o_assignment || ',"reason":' || to_json(o_reason)
        || ',"worker":"' || p_worker || '"}';
    started := '{"attempt":' || o_attempt || '}';
    claimed_digest := encode(sha256(convert_to(p_claimed_salt || claimed, 'UTF8')), 'hex');
    started_digest := encode(sha256(convert_to(p_started_salt || started, 'UTF8')), 'hex');
    between := runs_link(prev, o_seq - 1, at, 'run.claimed', '', o_fence, p_worker::text,
        claimed_digest);
    o_head := runs_link(between, o_seq, at, 'step.started', o_key, o_fence, p_worker::text,
        started_digest);
    INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at, body, salt,
        payload_digest, prev, hash)
    VALUES
        (o_tenant, o_run, o_seq - 1, 'run.claimed', '', o_fence, p_worker::text, ts, claimed,
            p_claimed_salt, claimed_digest, prev, between),
        (o_tenant, o_run, o_seq, 'step.started', o_key, o_fence, p_worker::text, ts, started,
            p_started_salt, started_digest, between, o_head);
    UPDATE runs_run SET state = 'running', fence = o_fence, worker_id = p_worker,
        updated_at = ts, started_at = COALESCE(started_at, ts), seq = o_seq, head = o_head
    WHERE id = o_run;
    PERFORM set_config('milepost.held', '', true);
END $$;

-- The commit of a step or of a page of it: guard, result, next step, checkpoint, events, run.
-- The events come as one text, because arrays are dear to send: records parted by chr(30), their
-- kind, step, body and salt by chr(31), neither of which is ever in a name or in canonical JSON.
-- Answers nulls when the fence is not the newest.
CREATE OR REPLACE FUNCTION runs_advance(
    p_run uuid, p_fence bigint, p_worker uuid, p_step text, p_generation int, p_finished bool,
    p_facts text, p_facts_digest text, p_cursor_ordinal bigint, p_cursor_token text,
    p_keys_count int, p_keys_digest text, p_schema int, p_next text, p_next_scope text,
    p_next_ordinal int, p_outcome text, p_events text, p_offset interval,
    OUT o_checkpoint int, OUT o_cancel bool, OUT o_pause bool
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    ts timestamptz := clock_timestamp() + p_offset;
    at text := to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    actor text := p_worker::text;
    drafts text[] := string_to_array(p_events, chr(30));
    last int := array_length(drafts, 1);
    stopped bool;
    held text;
    draft text[];
    digest text;
    prev text;
    hash text;
BEGIN
    SELECT tenant_id, seq, head, checkpoint, plan_hash, version, cancel_requested, pause_requested
    INTO r
    FROM runs_run
    WHERE id = p_run AND fence = p_fence AND worker_id = p_worker AND state = 'running'
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- The guards need not look again at the run that is locked here; see runs.ledger.guards.
    held := set_config('milepost.held', p_run::text, true);
    stopped := r.cancel_requested OR r.pause_requested;
    IF stopped AND p_next IS NOT NULL THEN
        last := last - 1;
    END IF;
    IF p_finished THEN
        UPDATE runs_step SET state = 'succeeded', facts = p_facts, facts_digest = p_facts_digest,
            cursor_ordinal = p_cursor_ordinal, cursor_token = p_cursor_token, ended_at = ts,
            error_class = '', error = '', fence = p_fence
        WHERE run_id = p_run AND key = p_step AND generation = p_generation AND state = 'running';
    ELSE
        UPDATE runs_step SET cursor_ordinal = p_cursor_ordinal, cursor_token = p_cursor_token,
            fence = p_fence
        WHERE run_id = p_run AND key = p_step AND generation = p_generation AND state = 'running';
    END IF;
    IF NOT FOUND THEN
        held := set_config('milepost.held', '', true);
        RETURN;
    END IF;
    IF p_next IS NOT NULL THEN
        INSERT INTO runs_step (run_id, key, scope, ordinal, generation, superseded, state, attempt,
            failures, crashes, fence, facts, facts_digest, cursor_ordinal, cursor_token,
            started_at, error_class, error)
        VALUES (p_run, p_next, p_next_scope, p_next_ordinal, p_generation, false,
            CASE WHEN stopped THEN 'pending' ELSE 'running' END,
            CASE WHEN stopped THEN 0 ELSE 1 END,
            0, 0, p_fence, '{}', '', 0, '', CASE WHEN stopped THEN NULL ELSE ts END, '', '');
    END IF;
    o_checkpoint := r.checkpoint + 1;
    INSERT INTO runs_checkpoint (run_id, number, step, generation, finished, cursor_ordinal,
        cursor_token, plan_hash, version, schema, fence, keys_count, keys_digest, awaiting,
        output_digest, at)
    VALUES (p_run, o_checkpoint, p_step, p_generation, p_finished, p_cursor_ordinal,
        p_cursor_token, r.plan_hash, r.version, p_schema, p_fence, p_keys_count, p_keys_digest, '',
        p_facts_digest, ts);
    hash := r.head;
    FOR i IN 1..last LOOP
        draft := string_to_array(drafts[i], chr(31));
        digest := encode(sha256(convert_to(draft[4] || draft[3], 'UTF8')), 'hex');
        prev := hash;
        hash := runs_link(prev, r.seq + i, at, draft[1], draft[2], p_fence, actor, digest);
        INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at, body,
            salt, payload_digest, prev, hash)
        VALUES (r.tenant_id, p_run, r.seq + i, draft[1], draft[2], p_fence, actor, ts, draft[3],
            draft[4], digest, prev, hash);
    END LOOP;
    -- The run's row last: a final one refuses even its own last events (R20).
    IF p_outcome IS NOT NULL THEN
        UPDATE runs_assignment SET state = 'released', outcome = p_outcome, closed_at = ts
        WHERE run_id = p_run AND fence = p_fence;
        UPDATE runs_run SET seq = r.seq + last, head = hash, checkpoint = o_checkpoint,
            updated_at = ts, ended_at = ts, state = 'succeeded', worker_id = NULL,
            reason = p_outcome
        WHERE id = p_run;
    ELSE
        UPDATE runs_run SET seq = r.seq + last, head = hash, checkpoint = o_checkpoint,
            updated_at = ts, step = COALESCE(p_next, step),
            step_ordinal = COALESCE(p_next_ordinal, step_ordinal)
        WHERE id = p_run;
    END IF;
    held := set_config('milepost.held', '', true);
    o_cancel := r.cancel_requested;
    o_pause := r.pause_requested;
END $$;
