-- name: insert_record
-- One audit record at its place in its chain.
INSERT INTO audit (place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: select_records
-- Records of one chain in order, whatever they are about.
SELECT place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed FROM audit
WHERE place > :after AND place <= :last
  AND (:tenant IS NULL OR tenant = :tenant) AND (:kind IS NULL OR kind = :kind)
  AND (:call IS NULL OR call = :call) AND (:subject IS NULL OR subject = :subject)
  AND (:since_us IS NULL OR at_us >= :since_us)
ORDER BY place LIMIT :limit

-- name: select_records_of_call
-- The same of one call, by its index.
SELECT place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed FROM audit INDEXED BY audit_by_call
WHERE call = :call AND call <> '' AND place > :after AND place <= :last
  AND (:tenant IS NULL OR tenant = :tenant) AND (:kind IS NULL OR kind = :kind)
  AND (:subject IS NULL OR subject = :subject) AND (:since_us IS NULL OR at_us >= :since_us)
ORDER BY place LIMIT :limit

-- name: select_records_of_subject
-- The same of one operation, approval or tool, by its index.
SELECT place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed FROM audit INDEXED BY audit_by_subject
WHERE subject = :subject AND subject <> '' AND place > :after AND place <= :last
  AND (:tenant IS NULL OR tenant = :tenant) AND (:kind IS NULL OR kind = :kind)
  AND (:call IS NULL OR call = :call) AND (:since_us IS NULL OR at_us >= :since_us)
ORDER BY place LIMIT :limit

-- name: select_chains
-- Where every chain stands.
SELECT id, name, sequence, hash FROM chains ORDER BY name

-- name: select_chain
-- One chain by name.
SELECT id, sequence, hash FROM chains WHERE name = ?

-- name: insert_chain
-- A chain that starts.
INSERT INTO chains (name, sequence, hash) VALUES (?, 0, ?) RETURNING id

-- name: advance_chain
-- The new head after a batch of records.
UPDATE chains SET sequence = ?, hash = ? WHERE id = ?

-- name: insert_owner
-- This process, from now on.
INSERT INTO owners (chain) VALUES (?) RETURNING id

-- name: delete_owner
-- This process has closed the store in good order.
DELETE FROM owners WHERE id = ?

-- name: insert_checkpoint
-- A signed checkpoint under its number.
INSERT INTO checkpoints (number, body) VALUES (?, ?)

-- name: select_checkpoints
-- All checkpoints in order.
SELECT body FROM checkpoints ORDER BY number

-- name: select_last_checkpoint
-- The newest one.
SELECT body FROM checkpoints ORDER BY number DESC LIMIT 1
