-- name: select_effects_of_run
-- Effects of a run that were done or may have been.
SELECT id, coalesce(settled_us, 4611686018427387904), rowid FROM calls
WHERE tenant = ? AND run = ? AND key IS NOT NULL AND state IN ('claimed', 'unknown', 'succeeded', 'partial')

-- name: select_effects_of_task
-- Effects of a task that were done or may have been.
SELECT id, coalesce(settled_us, 4611686018427387904), rowid FROM calls
WHERE tenant = ? AND task = ? AND key IS NOT NULL AND state IN ('claimed', 'unknown', 'succeeded', 'partial')

-- name: select_effect
-- One effect that was done or may have been.
SELECT id, coalesce(settled_us, 4611686018427387904), rowid FROM calls
WHERE tenant = ? AND id = ? AND key IS NOT NULL AND state IN ('claimed', 'unknown', 'succeeded', 'partial')

-- name: select_planned
-- The plan that undoes an operation.
SELECT plan FROM compensated WHERE tenant = ? AND operation = ?

-- name: take_into_plan
-- An operation comes into a plan.
INSERT INTO compensated (tenant, operation, plan) VALUES (?, ?, ?)

-- name: select_plan
-- One plan.
SELECT tenant, id, plan_sealed FROM compensations WHERE tenant = ? AND id = ?

-- name: select_plans
-- All plans of a tenant or of every tenant, oldest first.
SELECT tenant, id, plan_sealed FROM compensations
WHERE :tenant IS NULL OR tenant = :tenant ORDER BY started_us, rowid

-- name: select_plans_going_on
-- Plans that run or wait, oldest first.
SELECT tenant, id, plan_sealed FROM compensations
WHERE state IN ('running', 'waiting') AND (:tenant IS NULL OR tenant = :tenant) ORDER BY started_us, rowid

-- name: put_plan
-- A plan as it stands now.
INSERT INTO compensations (tenant, id, state, version, started_us, plan_sealed) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE
SET state = excluded.state, version = excluded.version, plan_sealed = excluded.plan_sealed

-- name: restate_call
-- What is told of an effect that is being undone.
UPDATE calls SET observation_sealed = ? WHERE tenant = ? AND id = ? AND state IN ('succeeded', 'partial')

-- name: drop_compensated
-- Retention: an operation that is no longer there cannot be undone twice.
DELETE FROM compensated WHERE NOT EXISTS (
    SELECT 1 FROM calls WHERE calls.tenant = compensated.tenant AND calls.id = compensated.operation
)

-- name: drop_plans
-- Retention: plans that are through.
DELETE FROM compensations WHERE state = 'compensated' AND started_us < :before_us
