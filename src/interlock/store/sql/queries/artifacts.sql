-- name: insert_artifact_part
-- One part of a result that is kept whole.
INSERT INTO artifact_parts (tenant, artifact, number, at_us, data) VALUES (?, ?, ?, ?, ?)

-- name: insert_artifact
-- What is known of a kept result, once all of its parts are there.
INSERT INTO artifacts (tenant, id, operation, tool, principal, media_type, size_bytes, labels, at_us, sealed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: select_artifact
-- What is known of a kept result.
SELECT operation, tool, principal, media_type, size_bytes, labels, at_us, sealed
FROM artifacts WHERE tenant = ? AND id = ?

-- name: select_artifact_part
-- One part of a result that is kept whole.
SELECT part.data
FROM artifact_parts AS part JOIN artifacts AS whole ON whole.tenant = part.tenant AND whole.id = part.artifact
WHERE part.tenant = ? AND part.artifact = ? AND part.number = ?

-- name: forget_artifacts
-- Forget some of what was kept before a moment.
DELETE FROM artifacts
WHERE rowid IN (SELECT rowid FROM artifacts WHERE at_us < ? ORDER BY at_us LIMIT ?)

-- name: forget_artifact_parts
-- Forget some of the parts that were kept before a moment.
DELETE FROM artifact_parts
WHERE rowid IN (SELECT rowid FROM artifact_parts WHERE at_us < ? ORDER BY at_us LIMIT ?)
