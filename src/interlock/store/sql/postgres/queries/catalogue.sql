-- name: share_epoch
-- The epoch cannot change until the batch that reads it has ended.
SELECT pg_advisory_xact_lock_shared(7310, 2)

-- name: change_epoch
-- Nobody claims under the epoch that is about to end.
SELECT pg_advisory_xact_lock(7310, 2)

-- name: select_epoch
-- The present epoch.
SELECT epoch FROM epoch

-- name: select_fence_floor
-- No key had a higher fence than this of which nothing is known any more. Read after the calls that have the keys.
SELECT fence_floor FROM epoch

-- name: update_epoch
-- The next epoch.
UPDATE epoch SET epoch = %s

-- name: select_versions
-- Every published version, oldest first.
SELECT tenant, source, name, version, digest, state, spec, replacement FROM versions ORDER BY number

-- name: select_changed_versions
-- Versions that were published or moved after an epoch, oldest first.
SELECT tenant, source, name, version, digest, state, spec, replacement FROM versions WHERE epoch > %s ORDER BY number

-- name: select_some_versions
-- Those of some versions that are published.
SELECT tenant, source, name, version, digest, state, spec, replacement FROM versions
WHERE (tenant, source, name, version) IN (SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]))

-- name: upsert_versions
-- Versions that are published or moved at an epoch; the guard on their digests is in the same transaction.
INSERT INTO versions (epoch, tenant, source, name, version, digest, state, spec, replacement)
SELECT %s::bigint, new.*
FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[], %s::text[]) AS new
ON CONFLICT (tenant, source, name, version)
DO UPDATE SET state = excluded.state, replacement = excluded.replacement, epoch = excluded.epoch

-- name: select_policies
-- Every policy source.
SELECT name, text, mode, tenant FROM policies ORDER BY tenant, name

-- name: delete_policies
-- All sources of some tenants, before they are replaced.
DELETE FROM policies WHERE tenant = ANY(%s)

-- name: insert_policies
-- Policy sources.
INSERT INTO policies (name, text, mode, tenant) SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[])

-- name: select_keys
-- The mark of the store's keys.
SELECT fingerprint, check_mark FROM keys

-- name: insert_keys
-- The mark of the keys that the store is first opened with; of processes that race, one writes it.
INSERT INTO keys (one, fingerprint, check_mark) VALUES (1, %s, %s) ON CONFLICT DO NOTHING
