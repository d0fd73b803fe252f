-- name: begin_batch
-- This owner's next batch, unless its lease has run out.
SELECT begin_batch(%s::bigint, %s::bigint)

-- name: enter
-- One process at a time chooses its chain.
SELECT pg_advisory_xact_lock(7310, 1)

-- name: lock_last_batches_of_chain
-- The chain's last owners have no batch on its way any more.
SELECT number FROM batches WHERE owner IN (SELECT id FROM owners WHERE chain = %s) ORDER BY owner FOR UPDATE

-- name: select_chain_is_taken
-- Whether an owner that is at work writes this chain.
SELECT EXISTS (SELECT FROM owners JOIN chains ON chains.id = chain WHERE name = %s AND until > clock_timestamp())

-- name: insert_owner
-- This process, from now on.
INSERT INTO owners (chain, until) VALUES (%s, clock_timestamp() + make_interval(secs => %s)) RETURNING id

-- name: insert_batches
-- It has committed nothing yet.
INSERT INTO batches (owner, number) VALUES (%s, 0)

-- name: sweep_owners
-- Owners of long ago, of whom nobody can ask any more what they committed.
DELETE FROM owners WHERE until IS NULL OR until < clock_timestamp() - interval '1 day'

-- name: renew_lease
-- A little longer, if it has not run out.
UPDATE owners SET until = greatest(until, clock_timestamp() + make_interval(secs => %s))
WHERE id = %s AND until > clock_timestamp()
RETURNING (SELECT count(*) > 1 FROM owners WHERE until > clock_timestamp())

-- name: end_lease
-- This process has closed the store in good order; some seconds more belong to work that goes on.
UPDATE owners SET until = clock_timestamp() + make_interval(secs => %s) WHERE id = %s AND until > clock_timestamp()

-- name: pass_batch
-- What this owner committed last, once no batch of it is on its way; one that comes later is refused. Batches count by one
-- and this counts by two, so that it may be asked again, and whether a batch was committed in between is odd or even.
UPDATE batches SET number = number + 2 WHERE owner = %s RETURNING number

-- name: wait_for_the_dead
-- Whoever claimed these calls and has lost its lease has no batch on its way any more.
SELECT number FROM batches
WHERE owner IN (SELECT calls.owner FROM calls WHERE place = ANY(%s))
  AND NOT EXISTS (SELECT FROM owners WHERE owners.id = batches.owner AND until > clock_timestamp())
ORDER BY owner FOR UPDATE

-- name: select_at_work
-- An unknown call at which a process may still be at work.
SELECT id FROM calls WHERE owner = %s AND state IN ('claimed', 'unknown') AND state = 'unknown' LIMIT 1

-- name: notify
-- Tell others what was let go of.
SELECT pg_notify('interlock', %s)

-- name: begin_claims
-- The same with claims that were decided under an epoch, which cannot change until the batch has ended.
SELECT begin_claims(%s::bigint, %s::bigint, %s::bigint)
