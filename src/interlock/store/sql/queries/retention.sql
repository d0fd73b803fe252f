-- name: purge_records
-- Forget what was kept whole, but of calls that are still open. The chain does not notice.
UPDATE audit SET kept_sealed = NULL
WHERE place > :after AND place <= :last AND at_us < :before_us AND kept_sealed IS NOT NULL
  AND subject NOT IN (SELECT id FROM calls WHERE state IN ('claimed', 'unknown'))

-- name: drop_calls
-- Calls that an earlier purge emptied: what happened stands in the log, and nothing asks for their rows any more.
DELETE FROM calls
WHERE rowid > :after AND rowid <= :last AND operation_sealed = x''
  AND state NOT IN ('claimed', 'unknown') AND settled_us < :before_us AND until_us <= :before_us

-- name: purge_calls
-- Forget arguments and results of ended calls whose key answers no more.
UPDATE calls SET operation_sealed = x'', observation_sealed = NULL
WHERE rowid > :after AND rowid <= :last
  AND state NOT IN ('claimed', 'unknown') AND settled_us < :before_us AND until_us <= :before_us

-- name: drop_approvals
-- Questions that are closed, with their operations, unless the call that they were about is open or its key answers.
DELETE FROM approvals
WHERE rowid > :after AND rowid <= :last AND state NOT IN ('pending', 'granted') AND asked_at_us < :before_us
  AND NOT EXISTS (
    SELECT 1 FROM calls
    WHERE calls.tenant = approvals.tenant AND calls.key = approvals.key AND calls.holds_key = 1
      AND (calls.state IN ('claimed', 'unknown') OR calls.until_us > :before_us)
  )

-- name: drop_usage
-- Rate windows that began before a time, in one stretch of the table.
DELETE FROM usage
WHERE (tenant, kind, id, window_us) >= (:tenant, :kind, :id, :window_us)
  AND (:end_tenant IS NULL OR (tenant, kind, id, window_us) < (:end_tenant, :end_kind, :end_id, :end_window_us))
  AND window_us > 0 AND window_us < :before_us
  AND held_rounds = 0 AND held_calls = 0 AND held_tokens = 0 AND held_cost_micros = 0 AND held_working_ms = 0
  AND held_concurrent = 0

-- name: select_usage_place
-- Where the next stretch begins.
SELECT tenant, kind, id, window_us FROM usage WHERE (tenant, kind, id, window_us) >= (?, ?, ?, ?)
ORDER BY tenant, kind, id, window_us LIMIT 1 OFFSET ?

-- name: select_last_call
-- How far the table goes.
SELECT coalesce(max(rowid), 0) FROM calls

-- name: select_last_approval
-- How far the table goes.
SELECT coalesce(max(rowid), 0) FROM approvals
