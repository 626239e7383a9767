package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Checkpoint copies the write-ahead log.
func Checkpoint(s *Store) error {
	s.writer.gate.Lock()
	defer s.writer.gate.Unlock()
	return s.files.Checkpoint(func() {}, func() {})
}

// SetFormat sets the version of the format.
func SetFormat(s *Store, format int) error {
	s.writer.gate.Lock()
	defer s.writer.gate.Unlock()
	_, err := s.writer.conn.ExecContext(context.Background(), "UPDATE meta SET format = $1", format)
	return err
}

// FailNext makes the writer's next statement with a prefix fail, before it is executed.
func FailNext(s *Store, prefix string) { failNext(s, prefix, false) }

// FailAfterNext is FailNext, but the statement is executed.
func FailAfterNext(s *Store, prefix string) { failNext(s, prefix, true) }

func failNext(s *Store, prefix string, after bool) {
	s.writer.gate.Lock()
	defer s.writer.gate.Unlock()
	s.writer.fault = func(query string, executed bool) error {
		if executed != after || !strings.HasPrefix(query, prefix) {
			return nil
		}
		s.writer.fault = nil
		return errors.New("the disk has a fault")
	}
}

// Whole reports whether nothing is missing.
func (s *Salvage) Whole() bool {
	return s.Complete && s.StateComplete && s.LostCommits == 0 && !slices.ContainsFunc(s.Runs, func(r SalvagedRun) bool { return r.Damage != nil })
}

// BlobsIn is [Store.Blobs] by connections that can write.
func BlobsIn(s *Store, db *sql.DB) (shared blob.Shared, closeStatements func() error) {
	r := &reader{statements: statements{on: db}, dialect: s.dialect, closing: s.closing}
	return newBlobs(r, db), r.closeStatements
}
