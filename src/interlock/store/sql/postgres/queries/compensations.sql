-- name: select_effects
-- Effects of a run, of a task or by their places, that were done or may have been; the last to end comes first.
SELECT place, tenant, id, state, fence, taken_over, owner, at_us, until_us, settled_us, key_place, holds_key, run, task,
       head, holds, labels, operation_sealed, observation_sealed, looks_count, looks_next_us, looks_escalated,
       (SELECT until > clock_timestamp() FROM owners WHERE owners.id = calls.owner) IS TRUE,
       (SELECT plan FROM compensated WHERE compensated.place = calls.place)
FROM calls
WHERE tenant = %(tenant)s AND key_place IS NOT NULL AND state IN ('claimed', 'unknown', 'succeeded', 'partial')
  AND ((%(run)s::text IS NULL AND %(task)s::text IS NULL AND place = ANY(%(places)s)) OR run = %(run)s OR task = %(task)s)
ORDER BY coalesce(settled_us, 4611686018427387904) DESC, number DESC

-- name: lock_planned
-- One process at a time takes operations into plans.
SELECT pg_advisory_xact_lock(7310, 4)

-- name: select_planned
-- Operations that are in a plan.
SELECT place FROM compensated WHERE place = ANY(%s)

-- name: take_into_plan
-- Operations come into a plan.
INSERT INTO compensated (place, plan) SELECT place, %s FROM unnest(%s::bytea[]) AS place

-- name: select_plan
-- One plan.
SELECT tenant, id, plan_sealed FROM compensations WHERE place = %s

-- name: select_plans
-- All plans of a tenant or of every tenant, oldest first.
SELECT tenant, id, plan_sealed FROM compensations
WHERE (%(tenant)s::text IS NULL OR tenant = %(tenant)s) ORDER BY started_us, number

-- name: select_plans_going_on
-- Plans that run or wait, oldest first.
SELECT tenant, id, plan_sealed FROM compensations
WHERE state IN ('running', 'waiting') AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
ORDER BY started_us, number

-- name: put_plan
-- A plan as it stands now.
INSERT INTO compensations (place, tenant, id, state, version, started_us, plan_sealed) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (place) DO UPDATE
SET state = excluded.state, version = excluded.version, plan_sealed = excluded.plan_sealed

-- name: restate_call
-- What is told of an effect that is being undone.
UPDATE calls SET observation_sealed = %s WHERE place = %s AND state IN ('succeeded', 'partial')

-- name: drop_compensated
-- Retention: an operation that is no longer there cannot be undone twice.
DELETE FROM compensated WHERE NOT EXISTS (SELECT FROM calls WHERE calls.place = compensated.place)

-- name: drop_plans
-- Retention: plans that are through.
DELETE FROM compensations WHERE state = 'compensated' AND started_us < %s
