-- Adds to scopes that are there, in the order of their places: twelve amounts for each, one after the other. Of what may be
-- used and held in the end there are six for each; where one is missing, nothing is compared. A sum that is too big for its
-- column is a fault, and so found by who counts up to that.
CREATE FUNCTION move_usage(places bytea[], amounts bigint[], most bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    fitting bigint;
BEGIN
    WITH moved AS (
        UPDATE usage SET
            used_rounds = used_rounds + amounts[12 * n - 11], used_calls = used_calls + amounts[12 * n - 10],
            used_tokens = used_tokens + amounts[12 * n - 9], used_cost_micros = used_cost_micros + amounts[12 * n - 8],
            used_working_ms = used_working_ms + amounts[12 * n - 7], used_concurrent = used_concurrent + amounts[12 * n - 6],
            held_rounds = held_rounds + amounts[12 * n - 5], held_calls = held_calls + amounts[12 * n - 4],
            held_tokens = held_tokens + amounts[12 * n - 3], held_cost_micros = held_cost_micros + amounts[12 * n - 2],
            held_working_ms = held_working_ms + amounts[12 * n - 1], held_concurrent = held_concurrent + amounts[12 * n]
        FROM unnest(places) WITH ORDINALITY AS given (given_place, n) WHERE place = given_place
        RETURNING
            used_rounds <= most[6 * n - 5] - held_rounds AND used_calls <= most[6 * n - 4] - held_calls
        AND used_tokens <= most[6 * n - 3] - held_tokens AND used_cost_micros <= most[6 * n - 2] - held_cost_micros
        AND used_working_ms <= most[6 * n - 1] - held_working_ms AND used_concurrent <= most[6 * n] - held_concurrent AS fits
    )
    SELECT count(*) INTO fitting FROM moved WHERE fits IS NOT FALSE;
    IF fitting <> cardinality(places) THEN
        PERFORM refuse_assumed();
    END IF;
    RETURN true;
END
$$;

-- Compares the version of a run, under its lock, and writes what it has done, where that has changed.
CREATE FUNCTION move_run(run bytea, assumed bigint, new_version bigint, new_facts bytea, new_ended text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF new_version IS NULL THEN
        PERFORM FROM runs WHERE place = run AND version = assumed FOR UPDATE;
    ELSE
        UPDATE runs SET version = new_version, facts = new_facts, ended = new_ended WHERE place = run AND version = assumed;
    END IF;
    IF NOT FOUND THEN
        PERFORM refuse_assumed();
    END IF;
    RETURN true;
END
$$;

-- The end of a batch of one call: its record, and whether the lease lasts, under the lock that keeps others from taking over.
CREATE FUNCTION end_batch(
    this bigint, new_sequence bigint, new_hash bytea, chain bigint, record_place bigint, record_body bytea,
    record_tenant text, record_kind text, record_at_us bigint, record_call text, record_subject text, first bytea, kept bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF record_place IS NOT NULL THEN
        UPDATE chains SET sequence = new_sequence, hash = new_hash WHERE id = chain;
        INSERT INTO audit (place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed)
        VALUES (record_place, new_hash, record_body, record_tenant, record_kind, record_at_us, record_call, record_subject,
                first, kept);
    END IF;
    PERFORM FROM owners WHERE id = this AND until > clock_timestamp();
    IF NOT FOUND THEN
        RAISE 'the lease of this owner has run out' USING ERRCODE = 'IL001';
    END IF;
    RETURN true;
END
$$;

-- A whole batch in one statement that claims one call of which nothing is known: begun, written, and each thing that was
-- assumed compared. Rows are locked in the order of all batches: usage, runs, keys.
CREATE FUNCTION write_claim(
    this bigint, next bigint, decided_under bigint, assumed_floor bigint, scopes bytea[], amounts bigint[], most bigint[],
    run_place bytea, run_assumed bigint, run_version bigint, run_facts bytea, run_ended text,
    new_place bytea, new_tenant text, new_id text, new_fence bigint, new_at_us bigint, new_until_us bigint, new_key bytea,
    new_run text, new_task text, new_head bytea, new_holds bytea, new_operation bytea,
    new_sequence bigint, new_hash bytea, chain bigint, record_place bigint, record_body bytea, record_tenant text,
    record_kind text, record_at_us bigint, record_call text, record_subject text, record_first bytea, record_kept bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    done boolean;
BEGIN
    UPDATE batches SET number = next WHERE owner = this AND number = next - 1;
    IF NOT FOUND THEN
        RAISE 'another batch of this owner has been here' USING ERRCODE = 'IL002';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(7310, 2);
    done := move_usage(scopes, amounts, most);
    IF run_place IS NOT NULL THEN
        done := move_run(run_place, run_assumed, run_version, run_facts, run_ended);
    END IF;
    INSERT INTO calls (place, tenant, id, state, fence, taken_over, owner, at_us, until_us, key_place, holds_key, run, task,
                       head, holds, operation_sealed)
    VALUES (new_place, new_tenant, new_id, 'claimed', new_fence, false, this, new_at_us, new_until_us, new_key,
            new_key IS NOT NULL, new_run, new_task, new_head, new_holds, new_operation);
    IF new_key IS NOT NULL THEN
        UPDATE approvals SET state = 'void' WHERE key_place = new_key AND state = 'pending';
    END IF;
    done := end_batch(this, new_sequence, new_hash, chain, record_place, record_body, record_tenant, record_kind,
                      record_at_us, record_call, record_subject, record_first, record_kept);
    PERFORM FROM epoch WHERE epoch.epoch = decided_under AND (new_key IS NULL OR fence_floor = assumed_floor);
    IF NOT FOUND THEN
        PERFORM refuse_assumed();
    END IF;
    RETURN true;
END
$$;

-- A whole batch in one statement after which one call, which this owner has claimed itself, is another.
CREATE FUNCTION write_call(
    this bigint, next bigint, scopes bytea[], amounts bigint[], run_place bytea, run_assumed bigint, run_version bigint,
    run_facts bytea, run_ended text,
    old_place bytea, new_state text, new_fence bigint, new_taken_over boolean, new_owner bigint, new_settled_us bigint,
    new_holds_key boolean, new_holds bytea, new_labels bytea, new_observation bytea, new_looks_count bigint,
    new_looks_next_us bigint, new_looks_escalated boolean,
    new_sequence bigint, new_hash bytea, chain bigint, record_place bigint, record_body bytea, record_tenant text,
    record_kind text, record_at_us bigint, record_call text, record_subject text, record_first bytea, record_kept bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    done boolean;
BEGIN
    UPDATE batches SET number = next WHERE owner = this AND number = next - 1;
    IF NOT FOUND THEN
        RAISE 'another batch of this owner has been here' USING ERRCODE = 'IL002';
    END IF;
    UPDATE calls SET state = new_state, fence = new_fence, taken_over = new_taken_over, owner = new_owner,
                     settled_us = new_settled_us, holds_key = new_holds_key, holds = new_holds, labels = new_labels,
                     observation_sealed = new_observation, looks_count = new_looks_count,
                     looks_next_us = new_looks_next_us, looks_escalated = new_looks_escalated
    WHERE place = old_place;
    done := move_usage(scopes, amounts, NULL);
    IF run_place IS NOT NULL THEN
        done := move_run(run_place, run_assumed, run_version, run_facts, run_ended);
    END IF;
    RETURN end_batch(this, new_sequence, new_hash, chain, record_place, record_body, record_tenant, record_kind,
                     record_at_us, record_call, record_subject, record_first, record_kept);
END
$$;
