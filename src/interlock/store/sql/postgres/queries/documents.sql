-- name: lock_documents
-- Changes of documents come one after the other.
SELECT pg_advisory_xact_lock(7310, 5)

-- name: select_documents
-- All of a kind that were not removed, of a tenant or of all.
SELECT tenant, kind, name, revision, body_sealed FROM documents
WHERE kind = %(kind)s AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s) AND body_sealed IS NOT NULL
ORDER BY tenant, name

-- name: select_changed_documents
-- Those of a kind that decisions read which were changed or removed after an epoch.
SELECT tenant, kind, name, revision, body_sealed FROM documents WHERE kind = %s AND epoch > %s ORDER BY tenant, name

-- name: select_document
-- One document, removed or not.
SELECT tenant, kind, name, revision, body_sealed FROM documents WHERE place = %s

-- name: select_document_revisions
-- How often some were changed.
SELECT tenant, kind, name, revision FROM documents WHERE place = ANY(%s::bytea[])

-- name: upsert_documents
-- Documents as they stand now; the guard on their revisions is in the same transaction.
INSERT INTO documents (epoch, place, tenant, kind, name, revision, body_sealed)
SELECT %s, * FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::bytea[])
ON CONFLICT (place) DO UPDATE
SET revision = excluded.revision, body_sealed = excluded.body_sealed, epoch = excluded.epoch
