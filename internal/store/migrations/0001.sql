-- Times are nanoseconds since 1970. Dialects other than SQLite replace the types, and leave
-- out what follows a table's last parenthesis.

CREATE TABLE meta (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	format  INTEGER NOT NULL,
	id      BLOB NOT NULL,    -- of this store, which its mark repeats
	commits INTEGER NOT NULL, -- how many transactions there were
	heads   BLOB NOT NULL     -- digest of all runs and their heads
) STRICT;

CREATE TABLE runs (
	num       INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT NOT NULL UNIQUE,
	owner     TEXT NOT NULL,
	photon    TEXT NOT NULL,
	started   INTEGER NOT NULL,
	state     TEXT NOT NULL,
	ended     INTEGER,           -- null if it has not ended
	due       INTEGER,           -- when the first question expires or sleep ends
	work      INTEGER NOT NULL,  -- 1 if a worker has something to do
	epoch     INTEGER NOT NULL,
	head      INTEGER NOT NULL,  -- ordinal of the last entry
	digest    BLOB NOT NULL,     -- of all entries
	bytes     INTEGER NOT NULL,  -- of the entries
	idem      TEXT UNIQUE,       -- who started it, and the idempotency key
	exclusive TEXT,
	queued    INTEGER NOT NULL,
	fold      BLOB NOT NULL      -- JSON of the rest of the run's state
) STRICT;
CREATE INDEX runs_owner     ON runs (owner, started);
CREATE INDEX runs_started   ON runs (started);
CREATE INDEX runs_due       ON runs (due) WHERE due IS NOT NULL;
CREATE INDEX runs_work      ON runs (started) WHERE work = 1;
CREATE INDEX runs_queued    ON runs (started) WHERE queued = 1;
CREATE INDEX runs_exclusive ON runs (photon, exclusive, queued, num) WHERE exclusive IS NOT NULL AND ended IS NULL;
CREATE INDEX runs_ended     ON runs (ended) WHERE ended IS NOT NULL;

CREATE TABLE entries ( -- a row for each append
	run    INTEGER NOT NULL,
	first  INTEGER NOT NULL, -- ordinal of its first entry
	n      INTEGER NOT NULL,
	token  INTEGER NOT NULL, -- random, so that an append finds itself
	digest BLOB NOT NULL,    -- of the run up to here
	data   BLOB NOT NULL,
	PRIMARY KEY (run, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE asks ( -- the open questions
	owner TEXT NOT NULL,
	asked INTEGER NOT NULL,
	run   INTEGER NOT NULL,
	seq   INTEGER NOT NULL,
	restricted INTEGER NOT NULL, -- 1 if it names who may answer
	called     INTEGER NOT NULL, -- 1 if a model has been called for it
	PRIMARY KEY (owner, asked, run, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX asks_asked ON asks (asked, run, seq);
CREATE INDEX asks_restricted ON asks (asked, run, seq) WHERE restricted = 1;
CREATE INDEX asks_restricted_owner ON asks (owner, asked, run, seq) WHERE restricted = 1;
CREATE INDEX asks_called ON asks (asked, run, seq) WHERE called = 1;

CREATE TABLE audience ( -- whom open questions name
	who   TEXT NOT NULL,
	asked INTEGER NOT NULL,
	run   INTEGER NOT NULL,
	seq   INTEGER NOT NULL,
	PRIMARY KEY (who, asked, run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE counts ( -- of an owner's open questions, and runs by state; see counts.go
	owner TEXT PRIMARY KEY,
	asks  INTEGER NOT NULL,
	other INTEGER NOT NULL,
	running     INTEGER NOT NULL,
	waiting     INTEGER NOT NULL,
	sleeping    INTEGER NOT NULL,
	completed   INTEGER NOT NULL,
	unanswered  INTEGER NOT NULL,
	failed      INTEGER NOT NULL,
	stopped     INTEGER NOT NULL,
	interrupted INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE photons ( -- how many of their runs have not ended
	name       TEXT PRIMARY KEY,
	unfinished INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deleted ( -- runs whose entries are yet to be deleted
	run INTEGER PRIMARY KEY
) STRICT;
