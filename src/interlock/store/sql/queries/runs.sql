-- name: insert_run_head
-- A run that begins; no row where the tenant has one of that id.
INSERT INTO run_heads (
    tenant, id, state, version, fence, owner, agent, principal, started_us, changed_us, wake_us, woken, over
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, 0)
ON CONFLICT (tenant, id) DO NOTHING RETURNING number

-- name: select_run_standing
-- What moving a run has to know.
SELECT number, version, fence, owner, over, woken FROM run_heads WHERE tenant = ? AND id = ?

-- name: insert_run_entry
-- One thing that happened in a run.
INSERT INTO run_entries (place, kind, at_us, data_sealed) VALUES (?, ?, ?, ?)

-- name: move_run_head
-- A step of a run that stays held. Apart from `let_go_of_run`, which would write indexes anew for every step.
UPDATE run_heads SET state = ?, version = ?, changed_us = ?, wake_us = ?, woken = 0 WHERE number = ?

-- name: let_go_of_run
-- Nobody holds a run any more, and it may be over.
UPDATE run_heads SET owner = 0, over = ? WHERE number = ?

-- name: take_run_head
-- A process holds a run, and reads it next.
UPDATE run_heads
SET fence = fence + 1, owner = ?, changed_us = ?, wake_us = nullif(wake_us, 0), woken = 0
WHERE number = ? RETURNING fence

-- name: tell_run_head
-- Something was said to a run.
UPDATE run_heads SET version = ?, changed_us = ?, wake_us = 0 WHERE number = ?

-- name: let_go_of_runs
-- A process has closed the store, though work of it goes on: its runs are due at once.
UPDATE run_heads SET owner = 0, wake_us = 0 WHERE owner = ? AND owner > 0 AND over = 0

-- name: select_run_head
-- One run.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us, owner, over
FROM run_heads WHERE tenant = ? AND id = ?

-- name: select_run_heads
-- Runs, newest first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us, owner, over
FROM run_heads
WHERE (started_us, id) < (:before_us, :before_id) AND (:state IS NULL OR state = :state)
  AND (:principal IS NULL OR principal = :principal) AND (:over IS NULL OR over = :over)
ORDER BY started_us DESC, id DESC LIMIT :limit

-- name: select_run_heads_of_tenant
-- Runs of a tenant, newest first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us, owner, over
FROM run_heads
WHERE tenant = :tenant AND (started_us, id) < (:before_us, :before_id) AND (:state IS NULL OR state = :state)
  AND (:principal IS NULL OR principal = :principal) AND (:over IS NULL OR over = :over)
ORDER BY started_us DESC, id DESC LIMIT :limit

-- name: select_runs_due
-- Runs that nobody holds and whose time has come, the longest due first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us, owner, over
FROM run_heads WHERE owner = 0 AND over = 0 AND wake_us <= :at_us
ORDER BY CASE WHEN wake_us = 0 THEN changed_us ELSE wake_us END LIMIT :limit

-- name: select_runs_told
-- Runs that this owner holds and that were told something, the longest due first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us, owner, over
FROM run_heads WHERE owner = :owner AND wake_us = 0 AND over = 0 ORDER BY changed_us LIMIT :limit

-- name: select_runs_held
-- Runs that this owner holds, the longest unchanged first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us, owner, over
FROM run_heads WHERE owner = :owner AND owner > 0 AND over = 0 ORDER BY changed_us LIMIT :limit

-- name: select_run_owners
-- Who holds runs.
SELECT DISTINCT owner FROM run_heads WHERE owner > 0 AND over = 0

-- name: select_run_entries
-- What happened in a run after an entry.
SELECT place, kind, at_us, data_sealed FROM run_entries WHERE place > ? AND place <= ? ORDER BY place LIMIT ?

-- name: select_runs_over
-- Runs that retention drops, with the number of their entries.
SELECT number, version FROM run_heads WHERE over = 1 AND changed_us < ? ORDER BY number

-- name: drop_run_entries
-- Retention: what happened in runs that are over, in one stretch of the table.
DELETE FROM run_entries
WHERE place > :after AND place <= :last
  AND place >> 32 IN (SELECT number FROM run_heads WHERE over = 1 AND changed_us < :before_us)

-- name: drop_runs
-- Retention: runs that are over, in one stretch of the table, once nothing is kept of what happened in them.
DELETE FROM run_heads WHERE number >= :first AND number <= :last AND over = 1 AND changed_us < :before_us
  AND NOT EXISTS (SELECT 1 FROM run_entries WHERE place > number << 32 AND place < (number + 1) << 32)
