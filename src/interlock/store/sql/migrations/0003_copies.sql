-- One row in a copy of a store, and in what becomes of it: its audit chains are its own, named after this branch.
CREATE TABLE copy (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    branch TEXT NOT NULL,
    taken_us INTEGER NOT NULL,
    restored_us INTEGER
) STRICT;

-- One row once everything in here has gone elsewhere: the store opens no more, and says where it went.
CREATE TABLE moved (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    destination TEXT NOT NULL,
    at_us INTEGER NOT NULL
) STRICT;
