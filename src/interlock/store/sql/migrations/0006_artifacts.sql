-- Whole results that an observation shows the beginning of; parts are written first, the row of the artifact last.
CREATE TABLE artifacts (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    operation TEXT NOT NULL,
    tool TEXT NOT NULL,
    principal TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    labels BLOB,
    at_us INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE INDEX artifacts_by_age ON artifacts (at_us);

CREATE TABLE artifact_parts (
    tenant TEXT NOT NULL,
    artifact TEXT NOT NULL,
    number INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tenant, artifact, number)
) STRICT;

CREATE INDEX artifact_parts_by_age ON artifact_parts (at_us);
