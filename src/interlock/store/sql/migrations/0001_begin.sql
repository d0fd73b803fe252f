-- Everything that a store keeps. Times are microseconds since 1970 UTC; blobs named "sealed" are encrypted where a key is set.

-- One audit chain per writing process, and where it stands. A free chain is taken up again by the next process.
CREATE TABLE chains (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;

-- One row for each time that a process opened the store. Ids are never given twice: they name lock files.
CREATE TABLE owners (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chain INTEGER NOT NULL
) STRICT;

-- `place` is chain << 40 | sequence, so that the table is its own index and an append goes to the end of its chain.
CREATE TABLE audit (
    place INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    body BLOB NOT NULL,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    call TEXT NOT NULL,
    subject TEXT NOT NULL,
    record BLOB,
    kept_sealed BLOB
) STRICT;

CREATE INDEX audit_by_call ON audit (call) WHERE call <> '';
CREATE INDEX audit_by_subject ON audit (subject) WHERE subject <> '';

CREATE TABLE checkpoints (
    number INTEGER PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;

-- A call from its claim on. `holds` is what it holds of budgets, `until_us` when its key is free again.
CREATE TABLE calls (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    fence INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    until_us INTEGER NOT NULL,
    settled_us INTEGER,
    holds_key INTEGER NOT NULL,
    key TEXT,
    run TEXT,
    task TEXT,
    tool TEXT NOT NULL,
    source TEXT NOT NULL,
    version TEXT NOT NULL,
    spec_digest TEXT NOT NULL,
    digest TEXT NOT NULL,
    model_digest TEXT NOT NULL,
    principal TEXT NOT NULL,
    call_id TEXT NOT NULL,
    repeatable INTEGER NOT NULL,
    holds BLOB,
    labels BLOB,
    operation_sealed BLOB NOT NULL,
    observation_sealed BLOB,
    PRIMARY KEY (tenant, id)
) STRICT;

-- The truth about idempotency: at most one call has a key, from its claim until nothing happened or its lifetime is over.
CREATE UNIQUE INDEX calls_by_key ON calls (tenant, key) WHERE holds_key = 1;
CREATE INDEX calls_open ON calls (at_us) WHERE state IN ('claimed', 'unknown');

CREATE TABLE usage (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    window_us INTEGER NOT NULL,
    used_rounds INTEGER NOT NULL,
    used_calls INTEGER NOT NULL,
    used_tokens INTEGER NOT NULL,
    used_cost_micros INTEGER NOT NULL,
    used_working_ms INTEGER NOT NULL,
    used_concurrent INTEGER NOT NULL,
    held_rounds INTEGER NOT NULL,
    held_calls INTEGER NOT NULL,
    held_tokens INTEGER NOT NULL,
    held_cost_micros INTEGER NOT NULL,
    held_working_ms INTEGER NOT NULL,
    held_concurrent INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind, id, window_us)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    facts BLOB NOT NULL,
    ended TEXT,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE approvals (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    key TEXT,
    asked_at_us INTEGER NOT NULL,
    approval_sealed BLOB NOT NULL,
    operation_sealed BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE INDEX approvals_pending ON approvals (tenant, key) WHERE state = 'pending';

-- Published versions; a row never changes its digest.
CREATE TABLE versions (
    tenant TEXT NOT NULL,
    source TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    state TEXT NOT NULL,
    spec BLOB NOT NULL,
    replacement TEXT NOT NULL,
    PRIMARY KEY (tenant, source, name, version)
) STRICT;

CREATE TABLE policies (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    mode TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- One row: the epoch that every claim is guarded by, raised with each change of a version or a policy.
CREATE TABLE epoch (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL
) STRICT;

INSERT INTO epoch VALUES (1, 0);
