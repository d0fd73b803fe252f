-- Runs of models, beside `runs`, which is what decisions read of them. `owner` 0: nobody holds it. `woken`: an approval
-- has made it due since it was taken or last moved.
CREATE TABLE run_heads (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    agent TEXT NOT NULL,
    principal TEXT NOT NULL,
    started_us INTEGER NOT NULL,
    changed_us INTEGER NOT NULL,
    wake_us INTEGER,
    woken INTEGER NOT NULL,
    over INTEGER NOT NULL,
    UNIQUE (tenant, id)
) STRICT;

-- A move of a run that is held and was told nothing changes none of these.
CREATE INDEX run_heads_held ON run_heads (owner) WHERE owner > 0 AND over = 0;
CREATE INDEX run_heads_told ON run_heads (owner) WHERE wake_us = 0 AND over = 0;
CREATE INDEX run_heads_waiting ON run_heads (wake_us) WHERE owner = 0 AND over = 0;
CREATE INDEX run_heads_by_start ON run_heads (started_us, id);
CREATE INDEX run_heads_of_tenant ON run_heads (tenant, started_us, id);

-- An approval that is decided, withdrawn, expired, voided or used makes the run of its operation due at once.
ALTER TABLE approvals ADD COLUMN run TEXT;

CREATE TRIGGER approvals_wake_runs AFTER UPDATE OF state ON approvals
WHEN NEW.state <> OLD.state AND NEW.run IS NOT NULL
BEGIN
    UPDATE run_heads SET wake_us = 0, woken = 1 WHERE tenant = NEW.tenant AND id = NEW.run AND over = 0;
END;

-- `place` is the number of the run << 32 | sequence, so that the table is its own index.
CREATE TABLE run_entries (
    place INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    data_sealed BLOB NOT NULL
) STRICT;
