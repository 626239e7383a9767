package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// Each row of small state has a digest of itself, which is checked when it is read, and meta one
// of all rows, so that Check finds a row that is missing, or an older one.

// State returns the small state in the store.
func (s *Store) State() smallstate.Store { return state{s.reader, s} }

type state struct {
	*reader
	store *Store
}

var _ smallstate.Store = state{}

// digestValue returns the digest of a row of state.
func digestValue(bucket, key string, value []byte) digest {
	buf := appendString(appendString(make([]byte, 0, 128+len(value)), bucket), key)
	sum := sha256.Sum256(append(buf, value...))
	return digest(sum[:digestSize])
}

// Queries of rows of state.
const (
	selectState  = "SELECT num, bucket, key, value, digest FROM state"
	valueOfState = selectState + " WHERE bucket = $1 AND key = $2"
)

// stateFormat is the format of the store that has small state.
const stateFormat = 2

var errOtherValue = errors.New("a value is not what was recorded")

// A stateRow is a row of state, with its texts as they are stored.
type stateRow struct {
	num         int64
	bucket, key string
	value       []byte
	digest      digest
}

func (r *stateRow) scan(row scanner) error {
	if err := row.Scan(&r.num, &r.bucket, &r.key, &r.value, &r.digest); err != nil {
		return err
	}
	if r.digest != digestValue(r.bucket, r.key, r.value) {
		return fmt.Errorf("%w: %w: %s in %s", runlog.ErrCorrupt, errOtherValue, r.key, r.bucket)
	}
	return nil
}

// Get implements [smallstate.Store].
func (s state) Get(ctx context.Context, bucket, key string) ([]byte, error) {
	var r stateRow
	if err := s.query(ctx, valueOfState, r.scan, toText(bucket), toText(key)); err != nil {
		return nil, err
	}
	return r.value, nil
}

// List implements [smallstate.Store].
func (s state) List(ctx context.Context, bucket, after string, limit int) (page []smallstate.Value, err error) {
	err = s.query(ctx, selectState+" WHERE bucket = $1 AND key > $2 ORDER BY key LIMIT $3", func(row scanner) error {
		var r stateRow
		err := r.scan(row)
		page = append(page, smallstate.Value{Key: fromText(r.key), Value: r.value})
		return err
	}, toText(bucket), toText(after), limit)
	return page, err
}

// Apply implements [smallstate.Store]. The errors are those of [Store.Append], too.
func (s state) Apply(ctx context.Context, changes ...smallstate.Change) (applied bool, err error) {
	if err := smallstate.CheckKeys(changes); err != nil {
		return false, err
	}
	size := 0
	for _, c := range changes {
		size += len(c.Key) + len(c.New)
	}
	if err := s.store.checkSize(size, true); err != nil { // somebody signs out
		return false, err
	}
	q := &request{changes: changes, sync: true, done: make(chan struct{})}
	if err := s.store.send(ctx, q); err != nil && !errors.Is(err, errStateChanged) {
		return false, fmt.Errorf("recording small state: %w", err)
	}
	return q.applied, nil
}

// errStateChanged means that another process has changed small state during the transaction.
var errStateChanged = errors.New("another process has changed small state")

// applyChanges makes the changes of a request, if all values are the old ones.
func (g *group) applyChanges(q *request) error {
	q.applied = false
	before := make([]stateRow, len(q.changes))
	for i, c := range q.changes {
		r, err := g.readState(c.Bucket, c.Key)
		if err != nil {
			return err
		}
		if !bytes.Equal(r.value, c.Old) {
			return nil
		}
		before[i] = r
	}
	for i, c := range q.changes {
		if err := g.writeState(before[i], c.New); err != nil {
			return err
		}
	}
	q.applied = true
	return nil
}

// readState returns a row, without a value if there is none.
func (w *writer) readState(bucket, key string) (r stateRow, err error) {
	err = w.queryRow(valueOfState, r.scan, toText(bucket), toText(key))
	if errors.Is(err, sql.ErrNoRows) {
		return stateRow{bucket: toText(bucket), key: toText(key)}, nil
	}
	return r, err
}

// writeState writes another value to a row.
func (g *group) writeState(r stateRow, value []byte) (err error) {
	n, d := int64(1), digestValue(r.bucket, r.key, value)
	switch {
	case bytes.Equal(r.value, value):
		return nil
	case len(r.value) == 0:
		n, err = g.exec("INSERT INTO state (bucket, key, value, digest) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", r.bucket, r.key, value, d[:])
	case len(value) == 0:
		n, err = g.exec("DELETE FROM state WHERE bucket = $1 AND key = $2 AND digest = $3", r.bucket, r.key, r.digest[:])
	default:
		n, err = g.exec("UPDATE state SET value = $1, digest = $2 WHERE bucket = $3 AND key = $4 AND digest = $5", value, d[:], r.bucket, r.key, r.digest[:])
	}
	switch {
	case err != nil:
		return err
	case n == 0:
		return errStateChanged
	}
	g.wrote = true
	g.values.xor(r.digest) // zero if there was no value
	if len(value) > 0 {
		g.values.xor(d)
	}
	return nil
}

// isApplied reports whether the changes of a request, whose commit seemed to fail, are there.
func (w *writer) isApplied(q *request) (bool, error) {
	for _, c := range q.changes {
		if r, err := w.readState(c.Bucket, c.Key); err != nil || !bytes.Equal(r.value, c.New) {
			return false, err
		}
	}
	return true, nil
}

// ReadState returns the values of buckets in the store in a folder, which another process may use.
func ReadState(ctx context.Context, dir string, buckets ...string) (values *smallstate.Memory, err error) {
	path := sqlite.Path(dir)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	db, err := sqlite.OpenFile(path, 1, "query_only=on")
	if err != nil {
		return nil, err
	}
	r := &reader{statements: statements{on: db}, dialect: &sqliteDialect}
	defer func() { err = errors.Join(err, r.closeStatements(), db.Close()) }()
	values = smallstate.NewMemory()
	for _, name := range buckets {
		for v, err := range (smallstate.Bucket{Store: state{reader: r}, Name: name}).All(ctx) {
			if err != nil {
				return nil, err
			}
			if _, err := values.Apply(ctx, smallstate.Change{Bucket: name, Key: v.Key, New: v.Value}); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}
