-- name: select_calls
-- Calls by their places, and those that have the keys, locked.
SELECT place, tenant, id, state, fence, taken_over, owner, at_us, until_us, settled_us, key_place, holds_key, run, task,
       head, holds, labels, operation_sealed, observation_sealed, looks_count, looks_next_us, looks_escalated,
       (SELECT until > clock_timestamp() FROM owners WHERE owners.id = calls.owner) IS TRUE
FROM calls WHERE place = ANY(%s) OR (key_place = ANY(%s) AND holds_key) ORDER BY place FOR UPDATE

-- name: insert_calls
-- Claimed calls.
INSERT INTO calls (place, tenant, id, state, fence, taken_over, owner, at_us, until_us, settled_us, key_place, holds_key,
                   run, task, head, holds, labels, operation_sealed, observation_sealed)
SELECT * FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::boolean[], %s::bigint[],
                     %s::bigint[], %s::bigint[], %s::bigint[], %s::bytea[], %s::boolean[], %s::text[], %s::text[],
                     %s::bytea[], %s::bytea[], %s::bytea[], %s::bytea[], %s::bytea[])

-- name: insert_call
-- One claimed call: a batch of one is usual, and takes half the time so.
INSERT INTO calls (place, tenant, id, state, fence, taken_over, owner, at_us, until_us, settled_us, key_place, holds_key,
                   run, task, head, holds, labels, operation_sealed, observation_sealed)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)

-- name: update_call
-- What has become of one call.
UPDATE calls SET state = %(state)s, fence = %(fence)s, taken_over = %(taken_over)s, owner = %(owner)s,
                 settled_us = %(settled_us)s, holds_key = %(holds_key)s, holds = %(holds)s, labels = %(labels)s,
                 observation_sealed = %(observation_sealed)s, looks_count = %(looks_count)s,
                 looks_next_us = %(looks_next_us)s, looks_escalated = %(looks_escalated)s
WHERE place = %(place)s

-- name: update_calls
-- What has become of calls.
UPDATE calls SET state = u.state, fence = u.fence, taken_over = u.taken_over, owner = u.owner, settled_us = u.settled_us,
                 holds_key = u.holds_key, holds = u.holds, labels = u.labels, observation_sealed = u.observation_sealed,
                 looks_count = u.looks_count, looks_next_us = u.looks_next_us, looks_escalated = u.looks_escalated
FROM unnest(%s::bytea[], %s::text[], %s::bigint[], %s::boolean[], %s::bigint[], %s::bigint[], %s::boolean[], %s::bytea[],
            %s::bytea[], %s::bytea[], %s::bigint[], %s::bigint[], %s::boolean[])
  AS u (place, state, fence, taken_over, owner, settled_us, holds_key, holds, labels, observation_sealed, looks_count,
        looks_next_us, looks_escalated)
WHERE calls.place = u.place

-- name: select_prior
-- The calls that have these keys.
SELECT key_place, tenant, id, state, owner, observation_sealed, at_us, settled_us, until_us, labels, head,
       (SELECT until > clock_timestamp() FROM owners WHERE owners.id = calls.owner) IS TRUE
FROM calls WHERE key_place = ANY(%s) AND holds_key

-- name: select_open_calls
-- Claimed and unknown calls, oldest first.
SELECT place, tenant, id, state, fence, taken_over, owner, at_us, until_us, settled_us, key_place, holds_key, run, task,
       head, holds, labels, operation_sealed, observation_sealed, looks_count, looks_next_us, looks_escalated,
       (SELECT until > clock_timestamp() FROM owners WHERE owners.id = calls.owner) IS TRUE
FROM calls WHERE state IN ('claimed', 'unknown') AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
ORDER BY at_us, number

-- name: select_due
-- Open calls at which nobody is at work and about which something may be to be done, those claimed and then the oldest first.
SELECT place, tenant, id, state, fence, taken_over, owner, at_us, until_us, settled_us, key_place, holds_key, run, task,
       head, holds, labels, operation_sealed, observation_sealed, looks_count, looks_next_us, looks_escalated, false
FROM calls WHERE state IN ('claimed', 'unknown') AND (state = 'claimed' OR looks_next_us <= %s)
  AND NOT EXISTS (SELECT FROM owners WHERE owners.id = calls.owner AND until > clock_timestamp())
ORDER BY state, at_us, number LIMIT %s

-- name: count_unknown
-- How many calls are unknown.
SELECT count(*) FROM calls WHERE state IN ('claimed', 'unknown') AND state = 'unknown'

-- name: select_looks
-- How often unknown calls were looked up.
SELECT tenant, id, looks_count, looks_next_us, looks_escalated FROM calls
WHERE state IN ('claimed', 'unknown') AND state = 'unknown' AND (looks_count > 0 OR looks_escalated)
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)

-- name: purge_calls
-- Retention: forget arguments and results of ended calls whose key answers no more, in one stretch; where that ends.
WITH span AS MATERIALIZED (SELECT place FROM calls WHERE place > %(after)s ORDER BY place LIMIT %(limit)s), done AS (
    UPDATE calls SET operation_sealed = '', observation_sealed = NULL
    WHERE place IN (SELECT place FROM span) AND state NOT IN ('claimed', 'unknown')
      AND settled_us < %(before_us)s AND until_us <= %(before_us)s AND operation_sealed <> ''
)
SELECT place FROM span ORDER BY place DESC LIMIT 1

-- name: drop_calls
-- Calls that an earlier purge emptied, in one stretch: what happened stands in the log, and nothing asks for their rows
-- any more. Where the stretch ends.
WITH span AS MATERIALIZED (SELECT place FROM calls WHERE place > %(after)s ORDER BY place LIMIT %(limit)s), gone AS (
    DELETE FROM calls
    WHERE place IN (SELECT place FROM span) AND operation_sealed = '' AND state NOT IN ('claimed', 'unknown')
      AND settled_us < %(before_us)s AND until_us <= %(before_us)s RETURNING fence
), raised AS (
    UPDATE epoch SET fence_floor = greatest(fence_floor, (SELECT max(fence) FROM gone)) WHERE EXISTS (SELECT FROM gone)
)
SELECT place FROM span ORDER BY place DESC LIMIT 1

-- name: end_claims
-- New claims have taken keys: questions that wait under them are void, and no dropped call had one under a higher fence.
SELECT end_claims(%s::bytea[], %s::bigint)

-- name: write_claim
-- A batch of one claim.
SELECT claim_call(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s,
                  %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)

-- name: write_call
-- A batch after which one call is another.
SELECT change_call(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s,
                   %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
