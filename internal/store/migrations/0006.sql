CREATE TABLE unfinished ( -- how many runs have not ended of a photon, by the process that claimed them last
	worker TEXT NOT NULL, -- empty if it had the store alone
	photon TEXT NOT NULL,
	runs   INTEGER NOT NULL,
	PRIMARY KEY (worker, photon)
) STRICT, WITHOUT ROWID;
INSERT INTO unfinished (worker, photon, runs) SELECT '', name, unfinished FROM photons;
DROP TABLE photons;
