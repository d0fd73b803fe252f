-- What one person proposes of an unknown call, for another to confirm; of another fence it says nothing.
CREATE TABLE closings (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    closing_sealed BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
