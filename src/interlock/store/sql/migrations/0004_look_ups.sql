-- How often an unknown call was looked up under this fence, and when it is due again; a row of another fence says nothing.
CREATE TABLE look_ups (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    count INTEGER NOT NULL,
    next_us INTEGER NOT NULL,
    escalated INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
