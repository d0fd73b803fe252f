-- name: insert_approval
-- A question with the operation that will run.
INSERT INTO approvals (tenant, id, state, key, asked_at_us, run, approval_sealed, operation_sealed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: select_approval
-- One approval with its operation.
SELECT tenant, id, state, approval_sealed, operation_sealed FROM approvals WHERE tenant = ? AND id = ?

-- name: select_same
-- Questions that wait under a key, and grants under it that are not used.
SELECT tenant, id, state, approval_sealed FROM approvals WHERE tenant = ? AND key = ? AND state IN ('pending', 'granted')

-- name: select_approvals
-- All of a tenant, or of every tenant, oldest first.
SELECT tenant, id, state, approval_sealed FROM approvals
WHERE (:tenant IS NULL OR tenant = :tenant) AND (:state IS NULL OR state = :state) ORDER BY asked_at_us, rowid

-- name: change_approval
-- A step that was guarded before, in the same transaction.
UPDATE approvals SET state = ?, approval_sealed = ? WHERE tenant = ? AND id = ?

-- name: use_approval
-- A grant is used up by the claim that runs it.
UPDATE approvals SET state = 'used' WHERE tenant = ? AND id = ?

-- name: void_pending
-- A claim voids the other questions that wait under its key.
UPDATE approvals SET state = 'void' WHERE tenant = ? AND key = ? AND state = 'pending'

-- name: select_any_pending
-- Any question that waits for an answer.
SELECT 1 FROM approvals WHERE state = 'pending' LIMIT 1
