-- name: select_closings
-- What is proposed of a tenant's unknown calls.
SELECT c.id, p.closing_sealed FROM closings AS p JOIN calls AS c ON c.place = p.place AND c.fence = p.fence
WHERE c.tenant = %s AND c.state = 'unknown'

-- name: lock_for_closing
-- Where a call stands that somebody proposes to close.
SELECT state, fence FROM calls WHERE place = %s FOR UPDATE

-- name: put_closing
-- A proposal, in place of any before it.
INSERT INTO closings (place, fence, closing_sealed) VALUES (%s, %s, %s)
ON CONFLICT (place) DO UPDATE SET fence = excluded.fence, closing_sealed = excluded.closing_sealed

-- name: purge_closings
-- Retention: calls that have ended are not closed any more.
DELETE FROM closings WHERE NOT EXISTS (
    SELECT FROM calls WHERE calls.place = closings.place AND calls.state = 'unknown'
)
