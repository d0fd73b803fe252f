-- Plans that undo effects, and which operations are in one: an operation is in one plan at most, for good.
CREATE TABLE compensations (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    started_us INTEGER NOT NULL,
    plan_sealed BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE INDEX compensations_going_on ON compensations (started_us) WHERE state IN ('running', 'waiting');

CREATE TABLE compensated (
    tenant TEXT NOT NULL,
    operation TEXT NOT NULL,
    plan TEXT NOT NULL,
    PRIMARY KEY (tenant, operation)
) STRICT, WITHOUT ROWID;

-- The effects of a run or of a task are found without reading every call.
CREATE INDEX calls_by_run ON calls (tenant, run) WHERE run IS NOT NULL AND key IS NOT NULL;
CREATE INDEX calls_by_task ON calls (tenant, task) WHERE task IS NOT NULL AND key IS NOT NULL;
