-- name: select_branch
-- What the names of this store's own chains end in, if it began as a copy.
SELECT branch FROM copy

-- name: is_unused
-- Whether nobody has written anything here yet.
SELECT NOT EXISTS (SELECT FROM chains) AND NOT EXISTS (SELECT FROM owners) AND NOT EXISTS (SELECT FROM keys)

-- name: begin_epoch
-- The epoch that is moved here takes the place of the one that a new store has.
DELETE FROM epoch

-- name: take_look_up
-- Look-ups have rows of their own elsewhere; here they are part of their call's, unless that has another fence by now.
UPDATE calls SET looks_count = %s, looks_next_us = %s, looks_escalated = %s WHERE place = %s AND fence = %s

-- name: go_on_counting
-- No id is given twice: a call that nobody is at work on would look as if somebody were.
SELECT setval(pg_get_serial_sequence('chains', 'id'), greatest(1, (SELECT max(id) FROM chains))),
       setval(pg_get_serial_sequence('owners', 'id'),
              greatest(1, (SELECT max(id) FROM owners), (SELECT max(owner) FROM calls), (SELECT max(owner) FROM run_heads))),
       setval(pg_get_serial_sequence('run_heads', 'number'), greatest(1, (SELECT max(number) FROM run_heads)))
