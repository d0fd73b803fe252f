-- name: append_records
-- The records of a batch, with the head that they lead to.
WITH head AS (UPDATE chains SET sequence = %s, hash = %s WHERE id = %s)
INSERT INTO audit (place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed)
SELECT * FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[], %s::text[], %s::text[], %s::bigint[], %s::text[],
                     %s::text[], %s::bytea[], %s::bytea[])

-- name: append_record
-- One record, with the head that it leads to.
WITH head AS (UPDATE chains SET sequence = %s, hash = %s WHERE id = %s)
INSERT INTO audit (place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)

-- name: select_records
-- Records of one chain in order.
SELECT place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed FROM audit
WHERE place > %(after)s AND place <= %(last)s
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s) AND (%(kind)s::text IS NULL OR kind = %(kind)s)
  AND (%(call)s::text IS NULL OR call = %(call)s) AND (%(subject)s::text IS NULL OR subject = %(subject)s)
  AND (%(since_us)s::bigint IS NULL OR at_us >= %(since_us)s)
ORDER BY place LIMIT %(limit)s

-- name: select_records_of_call
-- The same of one call, by its index.
SELECT place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed FROM audit
WHERE call = %(call)s AND call <> '' AND place > %(after)s AND place <= %(last)s
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s) AND (%(kind)s::text IS NULL OR kind = %(kind)s)
  AND (%(subject)s::text IS NULL OR subject = %(subject)s)
  AND (%(since_us)s::bigint IS NULL OR at_us >= %(since_us)s)
ORDER BY place LIMIT %(limit)s

-- name: select_records_of_subject
-- The same of one operation, approval or tool, by its index.
SELECT place, hash, body, tenant, kind, at_us, call, subject, record, kept_sealed FROM audit
WHERE subject = %(subject)s AND subject <> '' AND place > %(after)s AND place <= %(last)s
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s) AND (%(kind)s::text IS NULL OR kind = %(kind)s)
  AND (%(call)s::text IS NULL OR call = %(call)s)
  AND (%(since_us)s::bigint IS NULL OR at_us >= %(since_us)s)
ORDER BY place LIMIT %(limit)s

-- name: purge_records
-- Retention: forget what was kept whole in one stretch of a chain, but of calls that are still open.
UPDATE audit SET kept_sealed = NULL
WHERE place > %s AND place <= %s AND at_us < %s AND kept_sealed IS NOT NULL
  AND subject NOT IN (SELECT id FROM calls WHERE state IN ('claimed', 'unknown'))

-- name: select_chains
-- Where every chain stands.
SELECT id, name, sequence, hash FROM chains ORDER BY name COLLATE "C"

-- name: select_chain
-- One chain by name.
SELECT id, sequence, hash FROM chains WHERE name = %s

-- name: insert_chain
-- A chain that starts.
INSERT INTO chains (name, sequence, hash) VALUES (%s, 0, %s) RETURNING id, sequence, hash

-- name: lock_checkpoints
-- One checkpoint at a time.
SELECT pg_advisory_xact_lock(7310, 3)

-- name: insert_checkpoint
-- A signed checkpoint under its number.
INSERT INTO checkpoints (number, body) VALUES (%s, %s)

-- name: select_checkpoints
-- All checkpoints in order.
SELECT body FROM checkpoints ORDER BY number

-- name: select_last_checkpoint
-- The newest one.
SELECT body FROM checkpoints ORDER BY number DESC LIMIT 1
