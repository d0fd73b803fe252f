-- name: select_copy
-- Which copy this is, if it is one.
SELECT branch, taken_us, restored_us FROM copy

-- name: upsert_copy
-- From now on it is this copy.
INSERT OR REPLACE INTO copy (one, branch, taken_us, restored_us) VALUES (1, ?, ?, ?)

-- name: void_unused
-- What was granted or asked when the copy was taken may have been used since: it has to be asked anew.
UPDATE approvals SET state = 'void' WHERE state IN ('pending', 'granted')

-- name: fence_open
-- Whoever took such a call over since the copy was taken got the next fences: they are not given twice.
UPDATE calls SET fence = fence + 1048576 WHERE state IN ('claimed', 'unknown')

-- name: fence_runs
-- The same of runs, and nobody holds one here: those that were held are due at once.
UPDATE run_heads
SET fence = fence + 1048576, owner = 0, wake_us = CASE WHEN owner > 0 THEN 0 ELSE wake_us END WHERE over = 0

-- name: stop_plans
-- What was being undone when the copy was taken may have been undone since.
UPDATE compensations SET state = 'compensation_failed' WHERE state IN ('running', 'waiting')

-- name: select_moved
-- Where everything went, if it did.
SELECT destination, at_us FROM moved

-- name: insert_moved
-- From now on it is there.
INSERT OR REPLACE INTO moved (one, destination, at_us) VALUES (1, ?, ?)

-- name: delete_moved
-- It is still here.
DELETE FROM moved

-- name: count_open
-- Claimed and unknown calls.
SELECT count(*), min(at_us) FROM calls WHERE state IN ('claimed', 'unknown')

-- name: last_record
-- When the newest record of all was written.
SELECT max(at_us) FROM audit

-- name: last_of_kind
-- When the newest record of a kind was written.
SELECT max(at_us) FROM audit WHERE kind = ?
