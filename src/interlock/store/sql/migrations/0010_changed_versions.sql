-- At which epoch a version was published or moved last, so that a process reads what it has not seen.
ALTER TABLE versions ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

CREATE INDEX versions_by_epoch ON versions (epoch);
