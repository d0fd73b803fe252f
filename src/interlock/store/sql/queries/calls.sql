-- name: insert_call
-- A claimed call.
INSERT INTO calls (
    tenant, id, state, fence, owner, at_us, until_us, holds_key, key, run, task, tool, source, version, spec_digest,
    digest, model_digest, principal, call_id, repeatable, holds, operation_sealed
) VALUES (?, ?, 'claimed', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: select_claim
-- What a settlement has to know of its claim.
SELECT rowid, state, fence, run, holds FROM calls WHERE tenant = ? AND id = ?

-- name: settle_call
-- The outcome of a call.
UPDATE calls SET state = ?, settled_us = ?, holds = ?, labels = ?, observation_sealed = ? WHERE rowid = ?

-- name: give_key_back
-- Nothing happened: the key is free. Apart from `settle_call`, which would write the index of keys anew for every call.
UPDATE calls SET holds_key = 0 WHERE rowid = ?

-- name: be_nobodys
-- Nobody is at work on an unknown call any more.
UPDATE calls SET owner = 0 WHERE rowid = ?

-- name: claim_again
-- A new fence for a call whose worker died or whose outcome is unknown; the hold stays.
UPDATE calls SET state = 'claimed', fence = fence + 1, owner = ? WHERE tenant = ? AND id = ? RETURNING fence

-- name: select_continued
-- The call that a claim continues.
SELECT state, key, owner, holds FROM calls WHERE tenant = ? AND id = ?

-- name: hold_again
-- What a repeat holds of budgets.
UPDATE calls SET holds = ? WHERE tenant = ? AND id = ?

-- name: work_ended
-- Work that went on after the outcome was given up has ended, unless somebody else is at the call by now.
UPDATE calls SET owner = 0 WHERE tenant = ? AND id = ? AND fence = ? AND state = 'unknown'

-- name: select_standing
-- Where a call stands of which someone says something, or wants to take it over.
SELECT state, fence, owner FROM calls WHERE tenant = ? AND id = ?

-- name: select_at_work
-- An unknown call at which a process may still be at work.
SELECT id FROM calls WHERE owner = ? AND state = 'unknown' LIMIT 1

-- name: free_key
-- The lifetime of a finished call's key is over.
UPDATE calls SET holds_key = 0
WHERE tenant = ? AND key = ? AND holds_key = 1 AND until_us <= ? AND state IN ('succeeded', 'partial', 'failed')

-- name: select_prior
-- The call that has a key.
SELECT id, tool, model_digest, state, owner, observation_sealed, at_us, settled_us, until_us, labels FROM calls
WHERE tenant = ? AND key = ? AND holds_key = 1

-- name: select_call
-- One call with its operation.
SELECT tenant, id, state, fence, owner, at_us, key, run, task, tool, source, version, spec_digest, digest, model_digest,
       principal, call_id, repeatable, operation_sealed, observation_sealed
FROM calls WHERE tenant = ? AND id = ?

-- name: select_open_calls
-- Claimed and unknown calls, oldest first.
SELECT tenant, id, state, fence, owner, at_us, key, run, task, tool, source, version, spec_digest, digest, model_digest,
       principal, call_id, repeatable, operation_sealed, observation_sealed
FROM calls WHERE state IN ('claimed', 'unknown') AND (:tenant IS NULL OR tenant = :tenant) ORDER BY at_us, rowid
