-- name: select_due
-- Open calls that something may be to be done about, those claimed and then the oldest first, without what they hold.
SELECT c.tenant, c.id, c.state, c.owner, coalesce(l.count, 0), coalesce(l.next_us, 0), coalesce(l.escalated, 0)
FROM calls AS c LEFT JOIN look_ups AS l ON l.tenant = c.tenant AND l.id = c.id AND l.fence = c.fence
WHERE c.state IN ('claimed', 'unknown') AND (c.state = 'claimed' OR coalesce(l.next_us, 0) <= ?)
ORDER BY c.state, c.at_us, c.rowid

-- name: count_unknown
-- How many calls are unknown.
SELECT count(*) FROM calls WHERE state IN ('claimed', 'unknown') AND state = 'unknown'

-- name: select_looks
-- How often unknown calls were looked up.
SELECT l.tenant, l.id, l.count, l.next_us, l.escalated
FROM look_ups AS l JOIN calls AS c ON c.tenant = l.tenant AND c.id = l.id AND c.fence = l.fence
WHERE c.state = 'unknown' AND (:tenant IS NULL OR l.tenant = :tenant)

-- name: select_looks_of
-- How often one call was looked up under a fence.
SELECT count, next_us, escalated FROM look_ups WHERE tenant = ? AND id = ? AND fence = ?

-- name: put_looks
-- A look-up that is about to be made, or the last word on it.
INSERT INTO look_ups (tenant, id, fence, count, next_us, escalated) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE
SET fence = excluded.fence, count = excluded.count, next_us = excluded.next_us, escalated = excluded.escalated

-- name: purge_look_ups
-- Retention: calls that have ended are looked up no more.
DELETE FROM look_ups WHERE NOT EXISTS (
    SELECT 1 FROM calls WHERE calls.tenant = look_ups.tenant AND calls.id = look_ups.id AND calls.state = 'unknown'
)
