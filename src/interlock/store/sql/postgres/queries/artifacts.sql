-- name: insert_artifact_part
-- One part of a result that is kept whole.
INSERT INTO artifact_parts (artifact, number, at_us, data) VALUES (%s, %s, %s, %s)

-- name: insert_artifact
-- What is known of a kept result, once all of its parts are there.
INSERT INTO artifacts (place, operation, tool, principal, media_type, size_bytes, labels, at_us, sealed)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)

-- name: select_artifact
-- What is known of a kept result.
SELECT operation, tool, principal, media_type, size_bytes, labels, at_us, sealed FROM artifacts WHERE place = %s

-- name: select_artifact_part
-- One part of a result that is kept whole.
SELECT data FROM artifact_parts JOIN artifacts ON place = artifact WHERE artifact = %s AND number = %s

-- name: forget_artifacts
-- Forget some of what was kept before a moment.
DELETE FROM artifacts WHERE place IN (SELECT place FROM artifacts WHERE at_us < %s ORDER BY at_us LIMIT %s)

-- name: forget_artifact_parts
-- Forget some of the parts that were kept before a moment.
DELETE FROM artifact_parts WHERE (artifact, number) IN
    (SELECT artifact, number FROM artifact_parts WHERE at_us < %s ORDER BY at_us LIMIT %s)
