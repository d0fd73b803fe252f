-- name: select_documents
-- All of a kind that were not removed, of a tenant or of all.
SELECT tenant, kind, name, revision, body_sealed FROM documents
WHERE kind = :kind AND (:tenant IS NULL OR tenant = :tenant) AND body_sealed IS NOT NULL ORDER BY tenant, name

-- name: select_changed_documents
-- Those of a kind that decisions read which were changed or removed after an epoch.
SELECT tenant, kind, name, revision, body_sealed FROM documents INDEXED BY documents_by_epoch
WHERE kind = ? AND epoch > ? ORDER BY tenant, name

-- name: select_document
-- One document, removed or not.
SELECT tenant, kind, name, revision, body_sealed FROM documents WHERE tenant = ? AND kind = ? AND name = ?

-- name: select_document_revision
-- How often one was changed.
SELECT revision FROM documents WHERE tenant = ? AND kind = ? AND name = ?

-- name: put_document
-- A document as it stands now; the guard on its revision is in the same transaction.
INSERT INTO documents (tenant, kind, name, revision, body_sealed, epoch) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET revision = excluded.revision, body_sealed = excluded.body_sealed, epoch = excluded.epoch
