-- One ping in one statement: what monitors/rules/pinging.py says, with the row locked.
-- A monitor that is judged by cron or by words answers `terms` first, with nothing written: the
-- caller reads them and asks again, naming the revision it has read and the time it was told.
CREATE OR REPLACE FUNCTION monitors_ping(
    p_code uuid, p_key text, p_slug text, p_kind text, p_rid uuid, p_status int,
    p_sent_at timestamptz, p_fence bigint, p_number bigint, p_method text, p_scheme text,
    p_address text, p_agent text, p_body bytea, p_size int, p_kept bigint, p_revision int,
    p_at timestamptz, p_next_at timestamptz, p_offset interval,
    OUT o_outcome text, OUT o_n bigint, OUT o_at timestamptz, OUT o_revision int, OUT o_cron text,
    OUT o_zone text, OUT o_filters text, OUT o_tenant bigint
) LANGUAGE plpgsql AS $$
DECLARE
    ts timestamptz := coalesce(p_at, clock_timestamp() + p_offset);
    target uuid := p_code;
    matches int := 0;
    m monitors_monitor%ROWTYPE;
    kind text := p_kind;
    suspicious text := '';
    duration double precision;
    began timestamptz;
    was text;
    news boolean := false;
BEGIN
    o_outcome := 'unknown';
    IF target IS NULL THEN
        UPDATE monitors_pingkey SET last_used_at = ts
            WHERE digest = p_key AND (last_used_at IS NULL OR last_used_at < ts - interval '1 hour');
        SELECT k.tenant_id INTO o_tenant FROM monitors_pingkey k
            WHERE k.digest = p_key AND (k.expires_at IS NULL OR k.expires_at > ts);
        IF o_tenant IS NULL THEN
            RETURN;
        END IF;
        SELECT count(*), (array_agg(o.code))[1] INTO matches, target FROM monitors_monitor o
            WHERE o.tenant_id = o_tenant AND o.slug = p_slug AND o.removed_at IS NULL;
        IF matches > 1 THEN
            o_outcome := 'ambiguous';
        END IF;
        IF matches <> 1 THEN
            RETURN;
        END IF;
    END IF;
    SELECT * INTO m FROM monitors_monitor o WHERE o.code = target
        AND o.removed_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT m.plain AND m.revision IS DISTINCT FROM p_revision THEN
        o_outcome := 'terms';
        o_at := ts;
        o_revision := m.revision;
        o_cron := m.cron;
        o_zone := m.zone;
        o_filters := m.filters;
        RETURN;
    END IF;
    o_outcome := 'taken';
    o_n := m.n_pings + 1;
    m.n_pings := o_n;
    was := m.state;
    IF m.fence IS NOT NULL THEN
        suspicious := CASE
            WHEN p_fence IS NULL THEN 'alien'
            WHEN p_fence < m.fence THEN 'old_fence'
            WHEN p_fence = m.fence AND p_number <= coalesce(m.beat_number, 0)
                THEN CASE WHEN p_sent_at IS NULL THEN 'old_number' ELSE 'late' END
            ELSE ''
        END;
    END IF;
    IF suspicious = '' THEN
        IF p_fence IS NOT NULL THEN
            m.fence := p_fence;
            m.beat_number := p_number;
        END IF;
        IF (was = 'paused' AND (m.manual_resume OR m.paused_until IS NOT NULL))
            OR (m.post_only AND p_method <> 'POST') THEN
            kind := 'ignored';
        ELSIF kind = 'start' THEN
            m.last_start_at := ts;
            m.last_start_rid := p_rid;
            IF was NOT IN ('down', 'paused') THEN
                m.alert_at := least(m.alert_at,
                    ts + coalesce(m.longest, m.grace) * interval '1 second');
                m.judge_at := least(m.judge_at, m.expected_at, m.alert_at);
            END IF;
        ELSIF kind IN ('success', 'fail') THEN
            IF m.last_start_at IS NOT NULL AND m.last_start_rid IS NOT DISTINCT FROM p_rid THEN
                began := m.last_start_at;
                m.last_start_at := NULL;
                m.last_start_rid := NULL;
            ELSE
                IF p_rid IS NOT NULL THEN
                    SELECT p.at INTO began FROM monitors_ping p WHERE p.monitor_id = m.id
                        AND p.rid = p_rid AND p.kind = 'start' AND p.suspicious = ''
                        ORDER BY p.n DESC LIMIT 1;
                END IF;
                IF kind = 'fail' OR p_rid IS NULL THEN
                    m.last_start_at := NULL;
                    m.last_start_rid := NULL;
                END IF;
            END IF;
            duration := extract(epoch FROM ts - began);
            m.last_duration := duration;
            m.last_ping_at := ts;
            m.paused_at := NULL;
            IF kind = 'success' THEN
                m.state := 'up';
                m.expected_at := coalesce(p_next_at, ts + m.period * interval '1 second');
                m.alert_at := least(m.expected_at + m.grace * interval '1 second',
                    m.last_start_at + coalesce(m.longest, m.grace) * interval '1 second');
                news := was <> 'up' OR m.verdict <> 'alive';
            ELSE
                m.state := 'down';
                m.expected_at := NULL;
                m.alert_at := ts;
                news := was <> 'down';
            END IF;
            IF was <> m.state THEN
                m.state_since := ts;
                m.seq := m.seq + 1;
            END IF;
            IF news THEN
                m.judge_at := least(m.judge_at, ts);
            END IF;
            m.judge_at := least(m.judge_at, m.expected_at, m.alert_at);
        END IF;
    END IF;
    UPDATE monitors_monitor o SET n_pings = m.n_pings, state = m.state,
        state_since = m.state_since, seq = m.seq, paused_at = m.paused_at,
        last_ping_at = m.last_ping_at, last_start_at = m.last_start_at,
        last_start_rid = m.last_start_rid, last_duration = m.last_duration,
        expected_at = m.expected_at, alert_at = m.alert_at, judge_at = m.judge_at,
        fence = m.fence, beat_number = m.beat_number
        WHERE o.id = m.id;
    INSERT INTO monitors_ping (monitor_id, n, kind, at, sent_at, rid, exit_status, duration,
        method, scheme, address, agent, body, body_size, fence, beat_number, suspicious)
    VALUES (m.id, o_n, kind, ts, p_sent_at, p_rid, p_status, duration, p_method, p_scheme,
        p_address, p_agent, p_body, p_size, p_fence, p_number, suspicious);
    -- The index by (monitor, n) finds them, and there are never more than a hundred.
    IF o_n % 100 = 0 THEN
        DELETE FROM monitors_ping p WHERE p.monitor_id = m.id AND p.n <= o_n - p_kept;
    END IF;
END $$;
