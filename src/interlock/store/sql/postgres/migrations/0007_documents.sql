-- What people save about tools and agents. `revision` counts the changes; what was removed has no body and keeps its row.
CREATE TABLE documents (
    place bytea PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    body_sealed bytea
);

CREATE INDEX documents_of_kind ON documents USING hash (kind);
