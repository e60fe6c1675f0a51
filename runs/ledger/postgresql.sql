-- An event's hash covers the same parts, in the same order, as runs.rules.chain.link.

-- A new run with its first event, its first step and its place on the list of work.
CREATE OR REPLACE FUNCTION runs_start(
    p_run uuid, p_tenant bigint, p_workflow text, p_version int, p_plan text, p_reference text,
    p_labels text, p_start_key text, p_input text, p_input_digest text, p_by text, p_step text,
    p_scope text, p_ordinal int, p_total int, p_body text, p_salt text, p_offset interval
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ts timestamptz := clock_timestamp() + p_offset;
    at text := to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    digest text := encode(sha256(convert_to(p_salt || p_body, 'UTF8')), 'hex');
    hash text := encode(sha256(convert_to(chr(10) || '1' || chr(10) || at || chr(10)
        || 'run.started' || chr(10) || chr(10) || '0' || chr(10) || p_by || chr(10) || digest,
        'UTF8')), 'hex');
    placed bigint;
BEGIN
    INSERT INTO runs_run (id, tenant_id, workflow, version, plan_hash, reference, labels,
        start_key, input, input_digest, started_by, state, reason, step, step_ordinal,
        steps_total, generation, cancel_requested, pause_requested, fence, checkpoint, seq, head,
        created_at, updated_at)
    VALUES (p_run, p_tenant, p_workflow, p_version, p_plan, p_reference, p_labels::jsonb,
        p_start_key, p_input, p_input_digest, p_by, 'queued', '', p_step, p_ordinal,
        p_total, 1, false, false, 0, 0, 1, hash, ts, ts);
    INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at, body, salt,
        payload_digest, prev, hash)
    VALUES (p_tenant, p_run, 1, 'run.started', '', 0, p_by, ts, p_body, p_salt, digest, '', hash);
    INSERT INTO runs_step (run_id, key, scope, ordinal, generation, superseded, state, attempt,
        failures, crashes, fence, facts, facts_digest, cursor_ordinal, cursor_token, error_class,
        error)
    VALUES (p_run, p_step, p_scope, p_ordinal, 1, false, 'pending', 0, 0, 0, 0, '{}', '', 0, '',
        '', '');
    INSERT INTO runs_assignment (run_id, from_step, state, reason, outcome, placed_at)
    VALUES (p_run, p_step, 'placed', 'start', '', ts)
    RETURNING id INTO placed;
    RETURN placed;
END $$;

-- Take the oldest placed assignment whose plan this worker knows; nothing when there is none.
-- Only the run's row is locked, and a locked one is passed over (R18).
CREATE OR REPLACE FUNCTION runs_claim(
    p_worker uuid, p_actor text, p_plans text[], p_salts text[], p_offset interval
) RETURNS TABLE (
    o_assignment bigint, o_reason text, o_run uuid, o_tenant bigint, o_fence bigint,
    o_seq bigint, o_head text, o_workflow text, o_version int, o_plan text, o_reference text,
    o_input text, o_generation int, o_checkpoint int, o_cancel bool, o_pause bool,
    o_step_id bigint, o_key text, o_scope text, o_ordinal int, o_step_generation int,
    o_attempt int, o_failures int, o_crashes int, o_cursor_ordinal bigint, o_cursor_token text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    s record;
    ts timestamptz := clock_timestamp() + p_offset;
    kinds text[] := ARRAY['run.claimed', 'step.started'];
    steps text[];
    bodies text[];
    at text := to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    digest text;
    prev text;
    hash text;
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM runs_worker w WHERE w.id = p_worker AND w.state = 'live' AND NOT w.draining
    ) THEN
        RETURN;
    END IF;
    SELECT a.id AS assignment, a.reason, u.* INTO r
    FROM runs_assignment a JOIN runs_run u ON u.id = a.run_id
    WHERE a.state = 'placed' AND u.state = 'queued' AND u.plan_hash = ANY (p_plans)
    ORDER BY a.placed_at, a.id LIMIT 1
    FOR NO KEY UPDATE OF u SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- The assignment's row was not locked: it may have been closed while the run's was taken.
    UPDATE runs_assignment SET state = 'claimed', fence = r.fence + 1, worker_id = p_worker,
        claimed_at = ts
    WHERE id = r.assignment AND state = 'placed';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- The run's fence before the step's: the guard on steps compares with it.
    UPDATE runs_run SET state = 'running', fence = r.fence + 1, worker_id = p_worker,
        updated_at = ts, started_at = COALESCE(started_at, ts)
    WHERE id = r.id;
    UPDATE runs_step SET state = 'running', attempt = attempt + 1, fence = r.fence + 1,
        started_at = COALESCE(started_at, ts)
    WHERE run_id = r.id AND key = r.step AND NOT superseded
    RETURNING * INTO STRICT s;
    steps := ARRAY['', s.key];
    bodies := ARRAY[
        '{"assignment":' || r.assignment || ',"reason":' || to_json(r.reason::text)
            || ',"worker":"' || p_worker || '"}',
        '{"attempt":' || s.attempt || '}'
    ];
    hash := r.head;
    FOR i IN 1..2 LOOP
        digest := encode(sha256(convert_to(p_salts[i] || bodies[i], 'UTF8')), 'hex');
        prev := hash;
        hash := encode(sha256(convert_to(hash || chr(10) || (r.seq + i) || chr(10) || at || chr(10)
            || kinds[i] || chr(10) || steps[i] || chr(10) || (r.fence + 1) || chr(10) || p_actor
            || chr(10) || digest, 'UTF8')), 'hex');
        INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at, body,
            salt, payload_digest, prev, hash)
        VALUES (r.tenant_id, r.id, r.seq + i, kinds[i], steps[i], r.fence + 1, p_actor, ts,
            bodies[i], p_salts[i], digest, prev, hash);
    END LOOP;
    UPDATE runs_run SET seq = r.seq + 2, head = hash WHERE id = r.id;
    RETURN QUERY SELECT r.assignment, r.reason::text, r.id, r.tenant_id, r.fence + 1, r.seq + 2,
        hash, r.workflow::text, r.version, r.plan_hash::text, r.reference::text, r.input,
        r.generation, r.checkpoint, r.cancel_requested, r.pause_requested, s.id, s.key::text,
        s.scope::text, s.ordinal, s.generation, s.attempt, s.failures, s.crashes,
        s.cursor_ordinal, s.cursor_token;
END $$;

-- The commit of a step or of a page of it: guard, result, next step, checkpoint, events, run.
-- Answers nothing when the fence is not the newest.
CREATE OR REPLACE FUNCTION runs_advance(
    p_run uuid, p_fence bigint, p_worker uuid, p_assignment bigint, p_actor text, p_step text,
    p_generation int, p_finished bool, p_facts text, p_facts_digest text, p_cursor_ordinal bigint,
    p_cursor_token text, p_keys_count int, p_keys_digest text, p_plan text, p_version int,
    p_schema int, p_next text[], p_next_ordinal int, p_outcome text, p_kinds text[],
    p_steps text[], p_bodies text[], p_salts text[], p_offset interval
) RETURNS TABLE (o_checkpoint int, o_cancel bool, o_pause bool) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    ts timestamptz := clock_timestamp() + p_offset;
    stopped bool;
    last int := array_length(p_kinds, 1);
    at text := to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    digest text;
    prev text;
    hash text;
BEGIN
    SELECT tenant_id, seq, head, checkpoint, cancel_requested, pause_requested INTO r
    FROM runs_run
    WHERE id = p_run AND fence = p_fence AND worker_id = p_worker AND state = 'running'
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
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
        RETURN;
    END IF;
    IF p_next IS NOT NULL THEN
        INSERT INTO runs_step (run_id, key, scope, ordinal, generation, superseded, state, attempt,
            failures, crashes, fence, facts, facts_digest, cursor_ordinal, cursor_token,
            started_at, error_class, error)
        VALUES (p_run, p_next[1], p_next[2], p_next_ordinal, p_generation, false,
            CASE WHEN stopped THEN 'pending' ELSE 'running' END,
            CASE WHEN stopped THEN 0 ELSE 1 END,
            0, 0, p_fence, '{}', '', 0, '', CASE WHEN stopped THEN NULL ELSE ts END, '', '');
    END IF;
    INSERT INTO runs_checkpoint (run_id, number, step, generation, finished, cursor_ordinal,
        cursor_token, plan_hash, version, schema, fence, keys_count, keys_digest, awaiting,
        output_digest, at)
    VALUES (p_run, r.checkpoint + 1, p_step, p_generation, p_finished, p_cursor_ordinal,
        p_cursor_token, p_plan, p_version, p_schema, p_fence, p_keys_count, p_keys_digest, '',
        p_facts_digest, ts);
    hash := r.head;
    FOR i IN 1..last LOOP
        digest := encode(sha256(convert_to(p_salts[i] || p_bodies[i], 'UTF8')), 'hex');
        prev := hash;
        hash := encode(sha256(convert_to(hash || chr(10) || (r.seq + i) || chr(10) || at || chr(10)
            || p_kinds[i] || chr(10) || p_steps[i] || chr(10) || p_fence || chr(10) || p_actor
            || chr(10) || digest, 'UTF8')), 'hex');
        INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at, body,
            salt, payload_digest, prev, hash)
        VALUES (r.tenant_id, p_run, r.seq + i, p_kinds[i], p_steps[i], p_fence, p_actor, ts,
            p_bodies[i], p_salts[i], digest, prev, hash);
    END LOOP;
    -- The run's row last: a final one refuses even its own last events (R20).
    IF p_outcome IS NOT NULL THEN
        UPDATE runs_assignment SET state = 'released', outcome = p_outcome, closed_at = ts
        WHERE id = p_assignment;
        UPDATE runs_run SET seq = r.seq + last, head = hash, checkpoint = r.checkpoint + 1,
            updated_at = ts, ended_at = ts, state = 'succeeded', worker_id = NULL,
            reason = p_outcome
        WHERE id = p_run;
    ELSE
        UPDATE runs_run SET seq = r.seq + last, head = hash, checkpoint = r.checkpoint + 1,
            updated_at = ts, step = COALESCE(p_next[1], step),
            step_ordinal = COALESCE(p_next_ordinal, step_ordinal)
        WHERE id = p_run;
    END IF;
    RETURN QUERY SELECT r.checkpoint + 1, r.cancel_requested, r.pause_requested;
END $$;
