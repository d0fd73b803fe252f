-- Everything that a store keeps. Times are microseconds since 1970 UTC; bytes named "sealed" are encrypted where a key is set.
-- A "place" is the SHA-256 of what identifies a row: texts of any length make an index entry of the same size.

-- One audit chain per writing process, and where it stands. A free chain is taken up again by the next process.
CREATE TABLE chains (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    sequence bigint NOT NULL,
    hash bytea NOT NULL
);

-- One row for each time that a process opened the store or lost its lease. It is at work until then, by this server's
-- clock; a lease that has run out is never renewed. Where "until" is not set, nobody is at work.
CREATE TABLE owners (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain bigint NOT NULL REFERENCES chains,
    until timestamptz
);

-- The number of the last batch that an owner committed. Apart from `owners`, so that no batch holds up a renewal; whoever
-- takes something over from an owner locks its row, and so waits for a batch that is on its way.
CREATE TABLE batches (
    owner bigint PRIMARY KEY REFERENCES owners ON DELETE CASCADE,
    number bigint NOT NULL
) WITH (fillfactor = 50);

-- `place` is chain << 40 | sequence, so that an append goes to the end of its chain.
CREATE TABLE audit (
    place bigint PRIMARY KEY,
    hash bytea NOT NULL,
    body bytea NOT NULL,
    tenant text NOT NULL,
    kind text NOT NULL,
    at_us bigint NOT NULL,
    call text NOT NULL,
    subject text NOT NULL,
    record bytea,
    kept_sealed bytea
);

CREATE INDEX audit_by_call ON audit USING hash (call) WHERE call <> '';
CREATE INDEX audit_by_subject ON audit USING hash (subject) WHERE subject <> '';

CREATE TABLE checkpoints (
    number bigint PRIMARY KEY,
    body bytea NOT NULL
);

-- A call from its claim on. `head` is JSON: which tool, version, principal and so on. `holds` is what it holds of budgets,
-- `until_us` when its key is free again. The newest call of a key keeps the key's place, whatever became of it, so that
-- the next one's fence is higher. `looks` say how often an unknown call was looked up under its fence, and when next.
CREATE TABLE calls (
    place bytea PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    id text NOT NULL,
    state text NOT NULL,
    fence bigint NOT NULL,
    taken_over boolean NOT NULL,
    owner bigint NOT NULL,
    at_us bigint NOT NULL,
    until_us bigint NOT NULL,
    settled_us bigint,
    key_place bytea,
    holds_key boolean NOT NULL,
    run text,
    task text,
    head bytea NOT NULL,
    holds bytea,
    labels bytea,
    operation_sealed bytea NOT NULL,
    observation_sealed bytea,
    looks_count bigint NOT NULL DEFAULT 0,
    looks_next_us bigint NOT NULL DEFAULT 0,
    looks_escalated boolean NOT NULL DEFAULT false
) WITH (fillfactor = 80);

-- The truth about idempotency.
CREATE UNIQUE INDEX calls_by_key ON calls (key_place) WHERE holds_key;
CREATE INDEX calls_by_run ON calls USING hash (run) WHERE run IS NOT NULL AND key_place IS NOT NULL;
CREATE INDEX calls_by_task ON calls USING hash (task) WHERE task IS NOT NULL AND key_place IS NOT NULL;
CREATE INDEX calls_open ON calls (at_us, number) WHERE state IN ('claimed', 'unknown');

CREATE TABLE usage (
    place bytea PRIMARY KEY,
    tenant text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    window_us bigint NOT NULL,
    used_rounds bigint NOT NULL DEFAULT 0,
    used_calls bigint NOT NULL DEFAULT 0,
    used_tokens bigint NOT NULL DEFAULT 0,
    used_cost_micros bigint NOT NULL DEFAULT 0,
    used_working_ms bigint NOT NULL DEFAULT 0,
    used_concurrent bigint NOT NULL DEFAULT 0,
    held_rounds bigint NOT NULL DEFAULT 0,
    held_calls bigint NOT NULL DEFAULT 0,
    held_tokens bigint NOT NULL DEFAULT 0,
    held_cost_micros bigint NOT NULL DEFAULT 0,
    held_working_ms bigint NOT NULL DEFAULT 0,
    held_concurrent bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX usage_of_tenant ON usage USING hash (tenant);

CREATE TABLE runs (
    place bytea PRIMARY KEY,
    tenant text NOT NULL,
    id text NOT NULL,
    version bigint NOT NULL,
    facts bytea NOT NULL,
    ended text
) WITH (fillfactor = 80);

CREATE TABLE approvals (
    place bytea PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    id text NOT NULL,
    state text NOT NULL,
    key_place bytea,
    asked_at_us bigint NOT NULL,
    approval_sealed bytea NOT NULL,
    operation_sealed bytea NOT NULL
);

CREATE INDEX approvals_pending ON approvals (key_place) WHERE state = 'pending';

-- Plans that undo effects, and which operations are in one: an operation is in one plan at most, for good.
CREATE TABLE compensations (
    place bytea PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    id text NOT NULL,
    state text NOT NULL,
    version bigint NOT NULL,
    started_us bigint NOT NULL,
    plan_sealed bytea NOT NULL
);

CREATE INDEX compensations_going_on ON compensations (started_us, number) WHERE state IN ('running', 'waiting');

CREATE TABLE compensated (
    place bytea PRIMARY KEY,
    plan text NOT NULL
);

-- Whole results that an observation shows the beginning of; parts are written first, the row of the artifact last.
CREATE TABLE artifacts (
    place bytea PRIMARY KEY,
    operation text NOT NULL,
    tool text NOT NULL,
    principal text NOT NULL,
    media_type text NOT NULL,
    size_bytes bigint NOT NULL,
    labels bytea,
    at_us bigint NOT NULL,
    sealed bytea NOT NULL
);

CREATE INDEX artifacts_by_age ON artifacts (at_us);

CREATE TABLE artifact_parts (
    artifact bytea NOT NULL,
    number bigint NOT NULL,
    at_us bigint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (artifact, number)
);

CREATE INDEX artifact_parts_by_age ON artifact_parts (at_us);

-- Published versions; a row never changes its digest.
CREATE TABLE versions (
    tenant text NOT NULL,
    source text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    digest text NOT NULL,
    state text NOT NULL,
    spec bytea NOT NULL,
    replacement text NOT NULL,
    PRIMARY KEY (tenant, source, name, version)
);

CREATE TABLE policies (
    tenant text NOT NULL,
    name text NOT NULL,
    mode text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- One row: the epoch that every claim is guarded by, raised with each change of a version or a policy.
CREATE TABLE epoch (
    one integer PRIMARY KEY CHECK (one = 1),
    epoch bigint NOT NULL
);

INSERT INTO epoch VALUES (1, 0);

-- One row: the keys that the store was first opened with, as a mark that gives none of them away.
CREATE TABLE keys (
    one integer PRIMARY KEY CHECK (one = 1),
    fingerprint text NOT NULL,
    check_mark text NOT NULL
);

-- A batch begins: this owner's next, while its lease lasts. From here to the commit nobody takes anything over from it.
CREATE FUNCTION begin_batch(this bigint, next bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE batches SET number = next WHERE owner = this AND number = next - 1;
    IF NOT FOUND THEN
        RAISE 'another batch of this owner has been here' USING ERRCODE = 'IL002';
    END IF;
    PERFORM FROM owners WHERE id = this AND until > clock_timestamp();
    IF NOT FOUND THEN
        RAISE 'the lease of this owner has run out' USING ERRCODE = 'IL001';
    END IF;
END
$$;
