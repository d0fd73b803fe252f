-- What people save about tools and agents. `revision` counts the changes; what was removed has no body and keeps its row.
CREATE TABLE documents (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body_sealed BLOB,
    PRIMARY KEY (kind, tenant, name)
) STRICT;
