-- A call costs the server less. Rows of a few kilobytes stay in one piece, where PostgreSQL would compress each of them twice
-- to find that it has to keep it anyway. And an index of what many rows share is a tree: in a hash index all of them hang on
-- one chain, of which each insert walks the whole.
SET LOCAL statement_timeout = 0;

ALTER TABLE calls SET (toast_tuple_target = 8160);
ALTER TABLE audit SET (toast_tuple_target = 8160);

DROP INDEX calls_by_run;
CREATE INDEX calls_by_run ON calls (run) WHERE run IS NOT NULL AND key_place IS NOT NULL;
DROP INDEX calls_by_task;
CREATE INDEX calls_by_task ON calls (task) WHERE task IS NOT NULL AND key_place IS NOT NULL;
DROP INDEX audit_by_call;
CREATE INDEX audit_by_call ON audit (call) WHERE call <> '';

-- What `write_claim` does, which a process goes on with that was at work before this. Where all scopes take the same, as they
-- nearly always do, `scopes` come with these amounts and with the most of two units for each, where it has any; otherwise with
-- what `move_usage` takes. What an expression costs is its beginning, not its rows: so few are here, and few statements.
-- What is this process's own comes first, so that others wait for scopes as short as can be; the lease, the epoch, the floor
-- of fences and the questions are looked at last, after the key was taken.
CREATE FUNCTION claim_call(
    this bigint, next bigint, decided_under bigint, assumed_floor bigint,
    scopes bytea[], more_calls bigint, more_working_ms bigint, more_concurrent bigint, most_calls bigint[],
    most_concurrent bigint[], amounts bigint[], most bigint[],
    run_place bytea, run_assumed bigint, run_version bigint, run_facts bytea, run_ended text,
    new_place bytea, new_tenant text, new_id text, new_fence bigint, new_at_us bigint, new_until_us bigint, new_key bytea,
    new_run text, new_task text, new_head bytea, new_holds bytea, new_operation bytea,
    new_sequence bigint, new_hash bytea, chain bigint, record_place bigint, record_body bytea, record_tenant text,
    record_kind text, record_at_us bigint, record_call text, record_subject text, record_first bytea, record_kept bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    moved bigint;
    lives boolean;
    holds boolean;
    asked boolean;
BEGIN
    UPDATE batches SET number = next WHERE owner = this AND number = next - 1;
    IF NOT FOUND THEN
        RAISE 'another batch of this owner has been here' USING ERRCODE = 'IL002';
    END IF;
    IF record_place IS NOT NULL THEN
        UPDATE chains SET sequence = new_sequence, hash = new_hash WHERE id = chain;
        INSERT INTO audit (place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed)
        VALUES (record_place, new_hash, record_body, record_tenant, record_kind, record_at_us, record_call, record_subject,
                record_first, record_kept);
    END IF;
    PERFORM pg_advisory_xact_lock_shared(7310, 2);
    IF amounts IS NOT NULL THEN
        PERFORM move_usage(scopes, amounts, most);
    ELSE
        UPDATE usage SET held_calls = held_calls + more_calls, held_working_ms = held_working_ms + more_working_ms,
                         held_concurrent = held_concurrent + more_concurrent
        WHERE place = ANY(scopes)
          AND (used_calls + held_calls + more_calls <= most_calls[array_position(scopes, place)]) IS NOT FALSE
          AND (used_concurrent + held_concurrent + more_concurrent
               <= most_concurrent[array_position(scopes, place)]) IS NOT FALSE;
        GET DIAGNOSTICS moved = ROW_COUNT;
        IF moved <> cardinality(scopes) THEN
            PERFORM refuse_assumed();
        END IF;
    END IF;
    IF run_place IS NOT NULL THEN
        PERFORM move_run(run_place, run_assumed, run_version, run_facts, run_ended);
    END IF;
    INSERT INTO calls (place, tenant, id, state, fence, taken_over, owner, at_us, until_us, key_place, holds_key, run, task,
                       head, holds, operation_sealed)
    VALUES (new_place, new_tenant, new_id, 'claimed', new_fence, false, this, new_at_us, new_until_us, new_key,
            new_key IS NOT NULL, new_run, new_task, new_head, new_holds, new_operation);
    SELECT until > clock_timestamp(), epoch.epoch = decided_under AND (new_key IS NULL OR fence_floor = assumed_floor),
           EXISTS (SELECT FROM approvals WHERE key_place = new_key AND state = 'pending')
    INTO lives, holds, asked FROM owners, epoch WHERE id = this;
    IF lives IS NOT TRUE THEN
        RAISE 'the lease of this owner has run out' USING ERRCODE = 'IL001';
    END IF;
    IF holds IS NOT TRUE THEN
        PERFORM refuse_assumed();
    END IF;
    IF asked THEN
        UPDATE approvals SET state = 'void' WHERE key_place = new_key AND state = 'pending';
    END IF;
    RETURN true;
END
$$;

-- What `write_call` does, likewise.
CREATE FUNCTION change_call(
    this bigint, next bigint,
    scopes bytea[], more_calls bigint, more_working_ms bigint, less_calls bigint, less_working_ms bigint,
    less_concurrent bigint, amounts bigint[],
    run_place bytea, run_assumed bigint, run_version bigint, run_facts bytea, run_ended text,
    old_place bytea, new_state text, new_fence bigint, new_taken_over boolean, new_owner bigint, new_settled_us bigint,
    new_holds_key boolean, new_holds bytea, new_labels bytea, new_observation bytea, new_looks_count bigint,
    new_looks_next_us bigint, new_looks_escalated boolean,
    new_sequence bigint, new_hash bytea, chain bigint, record_place bigint, record_body bytea, record_tenant text,
    record_kind text, record_at_us bigint, record_call text, record_subject text, record_first bytea, record_kept bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    moved bigint;
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
    IF record_place IS NOT NULL THEN
        UPDATE chains SET sequence = new_sequence, hash = new_hash WHERE id = chain;
        INSERT INTO audit (place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed)
        VALUES (record_place, new_hash, record_body, record_tenant, record_kind, record_at_us, record_call, record_subject,
                record_first, record_kept);
    END IF;
    IF amounts IS NOT NULL THEN
        PERFORM move_usage(scopes, amounts, NULL);
    ELSE
        UPDATE usage SET used_calls = used_calls + more_calls, used_working_ms = used_working_ms + more_working_ms,
                         held_calls = held_calls - less_calls, held_working_ms = held_working_ms - less_working_ms,
                         held_concurrent = held_concurrent - less_concurrent
        WHERE place = ANY(scopes);
        GET DIAGNOSTICS moved = ROW_COUNT;
        IF moved <> cardinality(scopes) THEN
            PERFORM refuse_assumed();
        END IF;
    END IF;
    IF run_place IS NOT NULL THEN
        PERFORM move_run(run_place, run_assumed, run_version, run_facts, run_ended);
    END IF;
    PERFORM FROM owners WHERE id = this AND until > clock_timestamp();
    IF NOT FOUND THEN
        RAISE 'the lease of this owner has run out' USING ERRCODE = 'IL001';
    END IF;
    RETURN true;
END
$$;
