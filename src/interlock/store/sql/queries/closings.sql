-- name: select_closings
-- What is proposed of a tenant's unknown calls.
SELECT p.id, p.closing_sealed
FROM closings AS p JOIN calls AS c ON c.tenant = p.tenant AND c.id = p.id AND c.fence = p.fence
WHERE p.tenant = ? AND c.state = 'unknown'

-- name: put_closing
-- A proposal, in place of any before it.
INSERT INTO closings (tenant, id, fence, closing_sealed) VALUES (?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE SET fence = excluded.fence, closing_sealed = excluded.closing_sealed

-- name: purge_closings
-- Retention: calls that have ended are not closed any more.
DELETE FROM closings WHERE NOT EXISTS (
    SELECT 1 FROM calls WHERE calls.tenant = closings.tenant AND calls.id = closings.id AND calls.state = 'unknown'
)
