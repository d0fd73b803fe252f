-- name: select_epoch
-- The present epoch.
SELECT epoch FROM epoch

-- name: update_epoch
-- The next epoch.
UPDATE epoch SET epoch = ?

-- name: select_versions
-- Every published version, oldest first.
SELECT tenant, source, name, version, digest, state, spec, replacement FROM versions ORDER BY rowid

-- name: select_version
-- One published version.
SELECT tenant, source, name, version, digest, state, spec, replacement FROM versions
WHERE tenant = ? AND source = ? AND name = ? AND version = ?

-- name: select_changed_versions
-- Versions that were published or moved after an epoch, oldest first.
SELECT tenant, source, name, version, digest, state, spec, replacement FROM versions INDEXED BY versions_by_epoch
WHERE epoch > ? ORDER BY rowid

-- name: upsert_version
-- A version that is published or moved; the guard on its digest is in the same transaction.
INSERT INTO versions (tenant, source, name, version, digest, state, spec, replacement, epoch)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET state = excluded.state, replacement = excluded.replacement, epoch = excluded.epoch

-- name: select_policies
-- Every policy source.
SELECT name, text, mode, tenant FROM policies ORDER BY tenant, name

-- name: delete_policies
-- All sources of one tenant, before they are replaced.
DELETE FROM policies WHERE tenant = ?

-- name: insert_policy
-- One policy source.
INSERT INTO policies (name, text, mode, tenant) VALUES (?, ?, ?, ?)
