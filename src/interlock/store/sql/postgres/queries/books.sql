-- name: insert_usage
-- Scopes that nobody has used before, so that there is a row to lock.
INSERT INTO usage (place, tenant, kind, id, window_us)
SELECT * FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::bigint[]) ON CONFLICT DO NOTHING

-- name: lock_usage
-- What scopes have used and what calls hold of them, locked.
SELECT place, used_rounds, used_calls, used_tokens, used_cost_micros, used_working_ms, used_concurrent,
       held_rounds, held_calls, held_tokens, held_cost_micros, held_working_ms, held_concurrent
FROM usage WHERE place = ANY(%s) ORDER BY place FOR UPDATE

-- name: select_usage
-- The same, not locked.
SELECT place, used_rounds, used_calls, used_tokens, used_cost_micros, used_working_ms, used_concurrent,
       held_rounds, held_calls, held_tokens, held_cost_micros, held_working_ms, held_concurrent
FROM usage WHERE place = ANY(%s)

-- name: add_usage
-- What has changed in scopes, in the order of their places: twelve amounts for each, one after the other.
INSERT INTO usage AS old
SELECT place, tenant, kind, id, window_us,
       amounts[12 * n - 11], amounts[12 * n - 10], amounts[12 * n - 9], amounts[12 * n - 8],
       amounts[12 * n - 7], amounts[12 * n - 6], amounts[12 * n - 5], amounts[12 * n - 4],
       amounts[12 * n - 3], amounts[12 * n - 2], amounts[12 * n - 1], amounts[12 * n]
FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::bigint[]) WITH ORDINALITY
         AS given (place, tenant, kind, id, window_us, n), (SELECT %s::bigint[] AS amounts) AS flat
ON CONFLICT (place) DO UPDATE SET
    used_rounds = least(old.used_rounds::numeric + excluded.used_rounds, 9223372036854775807),
    used_calls = least(old.used_calls::numeric + excluded.used_calls, 9223372036854775807),
    used_tokens = least(old.used_tokens::numeric + excluded.used_tokens, 9223372036854775807),
    used_cost_micros = least(old.used_cost_micros::numeric + excluded.used_cost_micros, 9223372036854775807),
    used_working_ms = least(old.used_working_ms::numeric + excluded.used_working_ms, 9223372036854775807),
    used_concurrent = least(old.used_concurrent::numeric + excluded.used_concurrent, 9223372036854775807),
    held_rounds = least(old.held_rounds::numeric + excluded.held_rounds, 9223372036854775807),
    held_calls = least(old.held_calls::numeric + excluded.held_calls, 9223372036854775807),
    held_tokens = least(old.held_tokens::numeric + excluded.held_tokens, 9223372036854775807),
    held_cost_micros = least(old.held_cost_micros::numeric + excluded.held_cost_micros, 9223372036854775807),
    held_working_ms = least(old.held_working_ms::numeric + excluded.held_working_ms, 9223372036854775807),
    held_concurrent = least(old.held_concurrent::numeric + excluded.held_concurrent, 9223372036854775807)

-- name: add_usage_within
-- The same where it was assumed to fit: of some units no more than so much may be used and held in the end.
WITH added AS (
INSERT INTO usage AS old
SELECT place, tenant, kind, id, window_us,
       amounts[12 * n - 11], amounts[12 * n - 10], amounts[12 * n - 9], amounts[12 * n - 8],
       amounts[12 * n - 7], amounts[12 * n - 6], amounts[12 * n - 5], amounts[12 * n - 4],
       amounts[12 * n - 3], amounts[12 * n - 2], amounts[12 * n - 1], amounts[12 * n]
FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::bigint[]) WITH ORDINALITY
         AS given (place, tenant, kind, id, window_us, n), (SELECT %s::bigint[] AS amounts) AS flat
ON CONFLICT (place) DO UPDATE SET
    used_rounds = least(old.used_rounds::numeric + excluded.used_rounds, 9223372036854775807),
    used_calls = least(old.used_calls::numeric + excluded.used_calls, 9223372036854775807),
    used_tokens = least(old.used_tokens::numeric + excluded.used_tokens, 9223372036854775807),
    used_cost_micros = least(old.used_cost_micros::numeric + excluded.used_cost_micros, 9223372036854775807),
    used_working_ms = least(old.used_working_ms::numeric + excluded.used_working_ms, 9223372036854775807),
    used_concurrent = least(old.used_concurrent::numeric + excluded.used_concurrent, 9223372036854775807),
    held_rounds = least(old.held_rounds::numeric + excluded.held_rounds, 9223372036854775807),
    held_calls = least(old.held_calls::numeric + excluded.held_calls, 9223372036854775807),
    held_tokens = least(old.held_tokens::numeric + excluded.held_tokens, 9223372036854775807),
    held_cost_micros = least(old.held_cost_micros::numeric + excluded.held_cost_micros, 9223372036854775807),
    held_working_ms = least(old.held_working_ms::numeric + excluded.held_working_ms, 9223372036854775807),
    held_concurrent = least(old.held_concurrent::numeric + excluded.held_concurrent, 9223372036854775807)
RETURNING place, used_rounds, used_calls, used_tokens, used_cost_micros, used_working_ms, used_concurrent,
          held_rounds, held_calls, held_tokens, held_cost_micros, held_working_ms, held_concurrent
)
SELECT refuse_assumed() FROM unnest(%s::bytea[], %s::bigint[], %s::bigint[]) AS given (place, unit, most)
JOIN added USING (place) WHERE CASE unit
    WHEN 1 THEN used_rounds > most - held_rounds
    WHEN 2 THEN used_calls > most - held_calls
    WHEN 3 THEN used_tokens > most - held_tokens
    WHEN 4 THEN used_cost_micros > most - held_cost_micros
    WHEN 5 THEN used_working_ms > most - held_working_ms
    WHEN 6 THEN used_concurrent > most - held_concurrent
END

-- name: select_usage_of_tenant
-- Every scope of a tenant.
SELECT kind, id, window_us, used_rounds, used_calls, used_tokens, used_cost_micros, used_working_ms, used_concurrent,
       held_rounds, held_calls, held_tokens, held_cost_micros, held_working_ms, held_concurrent
FROM usage WHERE tenant = %s

-- name: purge_usage
-- Rate windows that began before a time.
DELETE FROM usage
WHERE window_us > 0 AND window_us < %s
  AND held_rounds = 0 AND held_calls = 0 AND held_tokens = 0 AND held_cost_micros = 0 AND held_working_ms = 0
  AND held_concurrent = 0

-- name: lock_runs
-- What runs have done so far, locked.
SELECT place, version, facts, ended FROM runs WHERE place = ANY(%s) ORDER BY place FOR UPDATE

-- name: select_runs
-- The same, not locked.
SELECT place, version, facts, ended FROM runs WHERE place = ANY(%s)

-- name: guard_runs
-- Locks runs that were assumed to have these versions.
WITH found AS (
    SELECT runs.place FROM runs JOIN unnest(%s::bytea[], %s::bigint[]) AS given (place, version)
    ON runs.place = given.place AND runs.version = given.version ORDER BY runs.place FOR UPDATE OF runs
)
SELECT refuse_assumed() WHERE (SELECT count(*) FROM found) <> %s

-- name: insert_runs
-- Runs that were never seen before: of processes that race, one goes on and the others read them anew.
INSERT INTO runs (place, tenant, id, version, facts, ended)
SELECT * FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::bigint[], %s::bytea[], %s::text[])

-- name: update_runs
-- The new state of runs.
UPDATE runs SET version = u.version, facts = u.facts, ended = u.ended
FROM unnest(%s::bytea[], %s::bigint[], %s::bytea[], %s::text[]) AS u (place, version, facts, ended)
WHERE runs.place = u.place

-- name: move_usage
-- What has changed in scopes that are known to be there.
SELECT move_usage(%s::bytea[], %s::bigint[], %s::bigint[])

-- name: move_usage_alike
-- The same where all of these scopes take the same of few units; in the end each has at most so many calls, and at once.
WITH moved AS (
    UPDATE usage SET used_calls = used_calls + %(calls)s::bigint, used_working_ms = used_working_ms + %(working_ms)s::bigint,
                     held_calls = held_calls + %(held_calls)s::bigint,
                     held_working_ms = held_working_ms + %(held_working_ms)s::bigint,
                     held_concurrent = held_concurrent + %(held_concurrent)s::bigint
    WHERE place = ANY(%(places)s::bytea[])
      AND (used_calls + held_calls + %(calls)s::bigint + %(held_calls)s::bigint
           <= (%(most_calls)s::bigint[])[array_position(%(places)s::bytea[], place)]) IS NOT FALSE
      AND (used_concurrent + held_concurrent + %(held_concurrent)s::bigint
           <= (%(most_concurrent)s::bigint[])[array_position(%(places)s::bytea[], place)]) IS NOT FALSE
    RETURNING 1
)
SELECT refuse_assumed() WHERE (SELECT count(*) FROM moved) <> cardinality(%(places)s::bytea[])
