-- name: select_keys
-- The mark of the store's keys.
SELECT fingerprint, check_mark FROM keys

-- name: insert_keys
-- The mark of the keys that the store is first opened with; of processes that race, one writes it.
INSERT INTO keys (one, fingerprint, check_mark) VALUES (1, ?, ?) ON CONFLICT DO NOTHING
