-- name: take_run_numbers
-- So many numbers for runs that begin.
SELECT nextval(pg_get_serial_sequence('run_heads', 'number')) FROM generate_series(1, %s)

-- name: lock_run_heads
-- Runs by their places, locked.
SELECT place, number, tenant, id, state, version, fence, owner, agent, principal, started_us, changed_us, wake_us, woken,
       over, (SELECT until > clock_timestamp() FROM owners WHERE owners.id = run_heads.owner) IS TRUE
FROM run_heads WHERE place = ANY(%s) ORDER BY place FOR UPDATE

-- name: insert_run_heads
-- Runs that begin: of processes that race, one goes on and the others find its run.
INSERT INTO run_heads (place, number, tenant, id, state, version, fence, owner, agent, principal, started_us, changed_us,
                       wake_us, woken, over)
SELECT * FROM unnest(%s::bytea[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[],
                     %s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::boolean[],
                     %s::boolean[])

-- name: update_run_heads
-- What has become of runs.
UPDATE run_heads SET state = u.state, version = u.version, fence = u.fence, owner = u.owner, changed_us = u.changed_us,
                     wake_us = u.wake_us, woken = u.woken, over = u.over
FROM unnest(%s::bytea[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::boolean[],
            %s::boolean[])
  AS u (place, state, version, fence, owner, changed_us, wake_us, woken, over)
WHERE run_heads.place = u.place

-- name: insert_run_entries
-- What happened in runs.
INSERT INTO run_entries (place, kind, at_us, data_sealed)
SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::bytea[])

-- name: let_go_of_runs
-- A process has closed the store, though work of it goes on: its runs are due at once.
UPDATE run_heads SET owner = 0, wake_us = 0 WHERE owner = %s AND owner > 0 AND NOT over

-- name: select_run_head
-- One run, and whether a process at work holds it.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us,
       EXISTS (SELECT FROM owners WHERE owners.id = run_heads.owner AND until > clock_timestamp()), over
FROM run_heads WHERE place = %s

-- name: select_run_heads
-- Runs, newest first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us,
       EXISTS (SELECT FROM owners WHERE owners.id = run_heads.owner AND until > clock_timestamp()), over
FROM run_heads
WHERE (started_us, id) < (%(before_us)s::bigint, %(before_id)s::text)
  AND (%(state)s::text IS NULL OR state = %(state)s) AND (%(principal)s::text IS NULL OR principal = %(principal)s)
  AND (%(over)s::boolean IS NULL OR over = %(over)s)
ORDER BY started_us DESC, id DESC LIMIT %(limit)s

-- name: select_run_heads_of_tenant
-- Runs of a tenant, newest first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us,
       EXISTS (SELECT FROM owners WHERE owners.id = run_heads.owner AND until > clock_timestamp()), over
FROM run_heads
WHERE tenant = %(tenant)s AND (started_us, id) < (%(before_us)s::bigint, %(before_id)s::text)
  AND (%(state)s::text IS NULL OR state = %(state)s) AND (%(principal)s::text IS NULL OR principal = %(principal)s)
  AND (%(over)s::boolean IS NULL OR over = %(over)s)
ORDER BY started_us DESC, id DESC LIMIT %(limit)s

-- name: select_runs_due
-- Runs that nobody holds and whose time has come, that this owner holds and that were told something, and whose holder
-- has died; the longest due first.
SELECT tenant, id, state, version, fence, agent, principal, started_us, changed_us, wake_us, held, over FROM (
    SELECT *, false AS held, CASE WHEN wake_us = 0 THEN changed_us ELSE wake_us END AS since_us
    FROM run_heads WHERE owner = 0 AND NOT over AND wake_us <= %(at_us)s
    UNION ALL
    SELECT *, true, changed_us FROM run_heads WHERE owner = %(owner)s AND owner > 0 AND wake_us = 0 AND NOT over
    UNION ALL
    SELECT *, false, changed_us FROM run_heads
    WHERE owner > 0 AND NOT over AND owner <> %(owner)s
      AND NOT EXISTS (SELECT FROM owners WHERE owners.id = run_heads.owner AND until > clock_timestamp())
) AS due ORDER BY since_us LIMIT %(limit)s

-- name: select_run_entries
-- What happened in a run after an entry.
SELECT entry.place, entry.kind, entry.at_us, entry.data_sealed
FROM run_heads AS head JOIN run_entries AS entry
  ON entry.place > (head.number << 32) + %(after)s AND entry.place < (head.number + 1) << 32
WHERE head.place = %(place)s ORDER BY entry.place LIMIT %(limit)s

-- name: drop_run_entries
-- Retention: what happened in the first of the runs that are over, so many entries at a time.
DELETE FROM run_entries WHERE place IN (
    SELECT entry.place FROM (
        SELECT number FROM run_heads WHERE over AND changed_us < %(before_us)s ORDER BY changed_us, number LIMIT %(runs)s
    ) AS head JOIN run_entries AS entry ON entry.place > head.number << 32 AND entry.place < (head.number + 1) << 32
    LIMIT %(limit)s
)

-- name: drop_runs
-- Retention: the first of the runs that are over, once nothing is kept of what happened in them.
DELETE FROM run_heads WHERE number IN (
    SELECT number FROM run_heads WHERE over AND changed_us < %(before_us)s ORDER BY changed_us, number LIMIT %(runs)s
) AND NOT EXISTS (
    SELECT FROM run_entries WHERE run_entries.place > number << 32 AND run_entries.place < (number + 1) << 32
)
