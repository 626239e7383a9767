CREATE TABLE state ( -- small state, see package smallstate
	num    INTEGER PRIMARY KEY AUTOINCREMENT,
	bucket TEXT NOT NULL,
	key    TEXT NOT NULL,
	value  BLOB NOT NULL,
	digest BLOB NOT NULL, -- of the row
	UNIQUE (bucket, key)
) STRICT;
ALTER TABLE meta ADD COLUMN state BLOB; -- digest of all rows of state; null at first
