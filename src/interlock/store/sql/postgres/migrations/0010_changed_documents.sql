-- At which epoch a document that decisions read was changed last, so that a process reads what it has not seen.
ALTER TABLE documents ADD COLUMN epoch bigint NOT NULL DEFAULT 0;

CREATE INDEX documents_by_epoch ON documents (kind, epoch);
