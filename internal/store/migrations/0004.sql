CREATE TABLE workers ( -- the processes that share the store; see package replica
	id      TEXT PRIMARY KEY,
	joined  INTEGER NOT NULL, -- this and the following by the database's clock
	renewed INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	lock    INTEGER NOT NULL, -- of which a session of the process has the advisory lock; 0 if it can't
	about   TEXT NOT NULL     -- JSON
) STRICT;
