-- name: lock_questions
-- One process at a time asks under a key.
SELECT pg_advisory_xact_lock(key) FROM unnest(%s::bigint[]) AS key

-- name: lock_approvals
-- Approvals by their places, and under the keys questions that wait and grants that are not used, locked.
SELECT place, tenant, id, state, approval_sealed, operation_sealed, key_place FROM approvals
WHERE place = ANY(%s) OR (key_place = ANY(%s) AND state IN ('pending', 'granted')) ORDER BY place FOR UPDATE

-- name: insert_approvals
-- Questions with the operations that will run.
INSERT INTO approvals (place, tenant, id, state, key_place, asked_at_us, run_place, approval_sealed, operation_sealed)
SELECT * FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::bytea[], %s::bigint[], %s::bytea[], %s::bytea[],
                     %s::bytea[])

-- name: update_approvals
-- Steps that were guarded before, in the same transaction.
UPDATE approvals SET state = u.state, approval_sealed = u.approval_sealed
FROM unnest(%s::bytea[], %s::text[], %s::bytea[]) AS u (place, state, approval_sealed) WHERE approvals.place = u.place

-- name: void_pending
-- Claims void the other questions that wait under their keys.
UPDATE approvals SET state = 'void' WHERE key_place = ANY(%s) AND state = 'pending'

-- name: select_approval
-- One approval with its operation.
SELECT place, tenant, id, state, approval_sealed, operation_sealed, key_place FROM approvals WHERE place = %s

-- name: select_approvals
-- All of a tenant, or of every tenant, oldest first.
SELECT tenant, id, state, approval_sealed FROM approvals
WHERE (%(tenant)s::text IS NULL OR tenant = %(tenant)s) AND (%(state)s::text IS NULL OR state = %(state)s)
ORDER BY asked_at_us, number

-- name: drop_approvals
-- Retention: closed questions with their operations, some at a time, unless their call is open or its key answers.
DELETE FROM approvals WHERE place IN (
    SELECT place FROM approvals WHERE state NOT IN ('pending', 'granted') AND asked_at_us < %(before_us)s
      AND NOT EXISTS (
        SELECT FROM calls WHERE calls.key_place = approvals.key_place AND calls.holds_key
          AND (calls.state IN ('claimed', 'unknown') OR calls.until_us > %(before_us)s)
      )
    LIMIT %(limit)s
)
