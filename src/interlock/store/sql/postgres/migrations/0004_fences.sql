-- The highest fence of the calls whose rows were dropped: a key that nothing is known of any more goes on above it.
ALTER TABLE epoch ADD COLUMN fence_floor bigint NOT NULL DEFAULT 0;
