package store

import (
	"context"

	"github.com/photon-beam/beam/internal/store/postgres"
)

// IsEmpty reports whether there are no runs, no files of runs, and no small state.
func (s *Store) IsEmpty(ctx context.Context) (bool, error) {
	found := false
	err := s.query(ctx, "SELECT 1 FROM runs UNION ALL SELECT 1 FROM blobs UNION ALL SELECT 1 FROM state LIMIT 1", func(scanner) error {
		found = true
		return nil
	})
	return !found, err
}

// Clear deletes everything in a PostgreSQL database. The store can only be closed then.
func (s *Store) Clear(ctx context.Context) error {
	_, err := s.readers.ExecContext(ctx, "TRUNCATE runs, entries, asks, audience, counts, photons, deleted, state, blobs")
	return postgres.Explain(err)
}
