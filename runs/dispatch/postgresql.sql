-- Put a doorbell among the unread ones, unless there are enough of them, and tell who listens.
CREATE OR REPLACE FUNCTION runs_ring(p_key text, p_message text, p_enough int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM django_q_ormq WHERE key = p_key OFFSET p_enough - 1) THEN
        RETURN;
    END IF;
    INSERT INTO django_q_ormq (key, payload) VALUES (p_key, p_message);
    PERFORM pg_notify('milepost_doorbell', '');
END $$;
