package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// maxPuts is how many files are stored at once. Each needs a connection.
const maxPuts = 2

func newBlobs(r *reader, db *sql.DB) *blobs { return &blobs{r, db, make(chan struct{}, maxPuts)} }

type blobs struct {
	*reader
	db   *sql.DB
	puts chan struct{} // that are in progress
}

var _ blob.Shared = (*blobs)(nil)

// chunkSize is how many bytes of a file a row has; the last one may have less.
const chunkSize = 256 << 10

const insertChunk = `INSERT INTO blobs (run, digest, n, size, stored, data) VALUES ($1, $2, $3, $4, $5, $6)
	ON CONFLICT (run, digest, n) DO UPDATE SET size = excluded.size, stored = excluded.stored, data = excluded.data`

// Put implements [blob.Shared].
func (b *blobs) Put(ctx context.Context, run, digest string, size int64, r io.Reader) error {
	select {
	case b.puts <- struct{}{}:
		defer func() { <-b.puts }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return b.inTransaction(ctx, func(tx *sql.Tx) error {
		chunk := make([]byte, min(size, chunkSize))
		for n := int64(0); n == 0 || n*chunkSize < size; n++ {
			part := chunk[:min(chunkSize, size-n*chunkSize)]
			if _, err := io.ReadFull(r, part); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, insertChunk, run, digest, n, size, toNanos(time.Now()), part); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *blobs) inTransaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return b.fail(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // fails once it is committed
	if err = do(tx); err == nil {
		err = tx.Commit()
	}
	return b.fail(ctx, err)
}

// Get implements [blob.Shared].
func (b *blobs) Get(run, digest string) io.Reader {
	return &chunkReader{blobs: b, run: run, digest: digest}
}

// A chunkReader reads a file, chunk by chunk.
type chunkReader struct {
	blobs       *blobs
	run, digest string
	next        int64  // chunk
	left        int64  // bytes that follow it
	chunk       []byte // what is left of it
}

// Read implements [io.Reader].
func (c *chunkReader) Read(p []byte) (int, error) {
	for len(c.chunk) == 0 {
		if c.next > 0 && c.left <= 0 {
			return 0, io.EOF
		}
		if err := c.readChunk(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.chunk)
	c.chunk = c.chunk[n:]
	return n, nil
}

func (c *chunkReader) readChunk() error {
	var size int64
	err := c.blobs.queryOne(context.Background(), "SELECT size, data FROM blobs WHERE run = $1 AND digest = $2 AND n = $3",
		func(row scanner) error { return row.Scan(&size, &c.chunk) }, c.run, c.digest, c.next)
	if errors.Is(err, runlog.ErrNotFound) {
		has, err := c.blobs.Has(c.run, c.digest)
		switch {
		case err != nil:
			return err
		case has:
			return fmt.Errorf("%w: a part is missing", blob.ErrChanged)
		}
		return blob.ErrNotFound
	}
	if err != nil {
		return err
	}
	if c.next == 0 {
		c.left = size
	}
	c.next++
	c.left -= int64(len(c.chunk))
	return nil
}

// Has implements [blob.Shared].
func (b *blobs) Has(run, digest string) (found bool, err error) {
	err = b.query(context.Background(), "SELECT n FROM blobs WHERE run = $1 AND digest = $2 AND n = 0", func(scanner) error {
		found = true
		return nil
	}, run, digest)
	return found, err
}

// Remove implements [blob.Shared].
func (b *blobs) Remove(run, digest string) error {
	_, err := b.exec(context.Background(), "DELETE FROM blobs WHERE run = $1 AND digest = $2", run, digest)
	return err
}

// DeleteRun implements [blob.Shared].
func (b *blobs) DeleteRun(run string) error {
	_, err := b.exec(context.Background(), "DELETE FROM blobs WHERE run = $1", run)
	return err
}

// startsWithin is how long after its first file was stored a run starts, if it does.
const startsWithin = time.Hour

// Runs implements [blob.Shared].
func (b *blobs) Runs() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for after := ""; ; {
			var page []string
			err := b.query(context.Background(), `SELECT DISTINCT run FROM blobs b WHERE run > $1 AND n = 0
				AND (stored < $2 OR EXISTS (SELECT 1 FROM runs r WHERE r.id = b.run)) ORDER BY run LIMIT $3`, func(row scanner) error {
				err := row.Scan(&after)
				page = append(page, after)
				return err
			}, after, toNanos(time.Now().Add(-startsWithin)), pageRows)
			if err != nil {
				yield("", err)
				return
			}
			for _, run := range page {
				if !yield(run, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
		}
	}
}

// RunBlobs implements [blob.Shared].
func (b *blobs) RunBlobs(run string) iter.Seq2[blob.Blob, error] {
	return func(yield func(blob.Blob, error) bool) {
		var all []blob.Blob
		err := b.query(context.Background(), "SELECT digest, size FROM blobs WHERE run = $1 AND n = 0 AND digest <> $2", func(row scanner) error {
			var found blob.Blob
			err := row.Scan(&found.Digest, &found.Size)
			all = append(all, found)
			return err
		}, run, messagesDigest)
		for _, found := range all {
			if !yield(found, nil) {
				return
			}
		}
		if err != nil {
			yield(blob.Blob{}, err)
		}
	}
}

// messagesDigest is what recorded messages have instead of a digest. Each of their chunks was
// written, or appended, at once.
const messagesDigest = "messages"

// WriteMessages implements [blob.Shared].
func (b *blobs) WriteMessages(run string, lines []byte) error {
	ctx := context.Background()
	return b.inTransaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM blobs WHERE run = $1 AND digest = $2", run, messagesDigest)
		if err == nil {
			_, err = tx.ExecContext(ctx, insertChunk, run, messagesDigest, 0, len(lines), toNanos(time.Now()), lines)
		}
		return err
	})
}

// AppendMessages implements [blob.Shared].
func (b *blobs) AppendMessages(run string, lines []byte) error {
	n, err := b.exec(context.Background(), `INSERT INTO blobs (run, digest, n, size, stored, data) SELECT run, digest, max(n) + 1, $1, $2, $3
		FROM blobs WHERE run = $4 AND digest = $5 GROUP BY run, digest`, len(lines), toNanos(time.Now()), lines, run, messagesDigest)
	if err == nil && n == 0 {
		err = fs.ErrNotExist
	}
	return err
}

// ReadMessages implements [blob.Shared].
func (b *blobs) ReadMessages(run string, limit int) (lines []byte, err error) {
	err = b.query(context.Background(), "SELECT data FROM blobs WHERE run = $1 AND digest = $2 ORDER BY n", func(row scanner) error {
		var data []byte
		err := row.Scan(&data)
		lines = append(lines, data...)
		if err == nil && len(lines) >= limit {
			lines, err = lines[:limit], errStop
		}
		return err
	}, run, messagesDigest)
	return lines, err
}
