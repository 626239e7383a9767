ALTER TABLE counts ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN forked TEXT; -- the id of the run that it was forked from
CREATE INDEX runs_forked ON runs (forked, started, id) WHERE forked IS NOT NULL;
