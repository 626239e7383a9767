package store

import "context"

// A checkpoint copies the write-ahead log into the database. The log begins anew when all of
// it was copied and nobody reads it. The writer goes on meanwhile, but when the log has become
// too long: then it waits for the rest to be copied.
const (
	checkpointBytes = 4 << 20
	maxWALBytes     = 16 << 20
	pageBytes       = 4 << 10
)

// checkpointWhenDue copies the write-ahead log whenever much has been written.
func (s *Store) checkpointWhenDue() {
	for {
		select {
		case <-s.closing:
			return
		case <-s.files.checkpoint:
			s.files.walBytes.Store(0)
			if err := s.checkpoint(); err != nil {
				s.logger.Error("copying the write-ahead log into the database", "err", err)
			}
		}
	}
}

func (s *Store) checkpoint() error {
	pages, err := s.files.copyWAL()
	if err != nil || pages*pageBytes < maxWALBytes {
		return err
	}
	s.writer.gate.Lock()
	defer s.writer.gate.Unlock()
	_, err = s.files.copyWAL()
	return err
}

// copyWAL copies what it can without making others wait, and returns how many pages the log
// has.
func (f *files) copyWAL() (pages int64, err error) {
	var busy, copied int64
	err = f.upkeep.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(passive)").Scan(&busy, &pages, &copied)
	return pages, explainSQLite(err)
}
