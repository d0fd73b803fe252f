-- name: select_usage
-- What one scope has used and what claimed calls hold of it.
SELECT used_rounds, used_calls, used_tokens, used_cost_micros, used_working_ms, used_concurrent,
       held_rounds, held_calls, held_tokens, held_cost_micros, held_working_ms, held_concurrent
FROM usage WHERE tenant = ? AND kind = ? AND id = ? AND window_us = ?

-- name: upsert_usage
-- The new state of one scope.
INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: select_usage_of_tenant
-- Every scope of a tenant.
SELECT kind, id, window_us, used_rounds, used_calls, used_tokens, used_cost_micros, used_working_ms, used_concurrent,
       held_rounds, held_calls, held_tokens, held_cost_micros, held_working_ms, held_concurrent
FROM usage WHERE tenant = ? ORDER BY kind, id, window_us

-- name: select_run
-- What a run has done so far.
SELECT version, facts, ended FROM runs WHERE tenant = ? AND id = ?

-- name: upsert_run
-- The new state of one run.
INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)
