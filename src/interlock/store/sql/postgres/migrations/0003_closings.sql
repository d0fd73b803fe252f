-- What one person proposes of an unknown call, for another to confirm; of another fence it says nothing.
CREATE TABLE closings (
    place bytea PRIMARY KEY,
    fence bigint NOT NULL,
    closing_sealed bytea NOT NULL
);
