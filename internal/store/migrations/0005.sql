CREATE TABLE blobs ( -- files of runs in chunks, and recorded messages, if several processes share them; see blobs.go
	run    TEXT NOT NULL,
	digest TEXT NOT NULL,    -- of the whole file
	n      INTEGER NOT NULL, -- of the chunk, from 0
	size   INTEGER NOT NULL, -- of the whole file
	stored INTEGER NOT NULL, -- when
	data   BLOB NOT NULL,
	PRIMARY KEY (run, digest, n)
) STRICT;
