-- One row in what was made of a copy and then moved here: its audit chains are its own, named after this branch.
CREATE TABLE copy (
    one integer PRIMARY KEY CHECK (one = 1),
    branch text NOT NULL,
    taken_us bigint NOT NULL,
    restored_us bigint
);
