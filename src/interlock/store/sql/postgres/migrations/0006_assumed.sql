-- Where something was assumed of a row that does not hold: the batch is undone, and carried out by who reads first.
CREATE FUNCTION refuse_assumed() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'a row is not as it was assumed to be' USING ERRCODE = 'serialization_failure';
END
$$;

-- A batch begins as `begin_batch` says, with claims that were decided under this epoch, which lasts until the commit.
CREATE FUNCTION begin_claims(this bigint, next bigint, assumed bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM begin_batch(this, next);
    PERFORM pg_advisory_xact_lock_shared(7310, 2);
    PERFORM FROM epoch WHERE epoch.epoch = assumed;
    IF NOT FOUND THEN
        PERFORM refuse_assumed();
    END IF;
END
$$;

-- Claims that have taken keys of which no call was known end: the questions that wait under them are void. A call that
-- had one of them until now may have been dropped meanwhile; its fence was at most the floor that is read here, after it.
CREATE FUNCTION end_claims(keys bytea[], assumed bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE approvals SET state = 'void' WHERE key_place = ANY(keys) AND state = 'pending';
    PERFORM FROM epoch WHERE epoch.fence_floor = assumed;
    IF NOT FOUND THEN
        PERFORM refuse_assumed();
    END IF;
END
$$;
