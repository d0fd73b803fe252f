-- One row: the keys that the store was first opened with, as a mark that gives none of them away.
CREATE TABLE keys (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    fingerprint TEXT NOT NULL,
    check_mark TEXT NOT NULL
) STRICT;
