package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"time"
)

// Shared keeps the blobs of runs for several processes, and the recorded messages of runs. Its
// methods may be called from several goroutines. They are those of [Store] of the same names,
// where they don't say otherwise.
type Shared interface {
	// Put stores a blob of size bytes, which r yields. After an error, it is not stored.
	Put(ctx context.Context, run, digest string, size int64, r io.Reader) error

	// Get returns a reader of what is stored as a blob. The error of reading is [ErrNotFound],
	// or [ErrChanged] if a part is missing, or that of what stores it.
	Get(run, digest string) io.Reader

	Has(run, digest string) (bool, error)
	Remove(run, digest string) error
	DeleteRun(run string) error
	// Runs leaves out runs that another process may be about to start.
	Runs() iter.Seq2[string, error]
	RunBlobs(run string) iter.Seq2[Blob, error]

	WriteMessages(run string, lines []byte) error
	AppendMessages(run string, lines []byte) error
	// ReadMessages returns at most limit bytes.
	ReadMessages(run string, limit int) ([]byte, error)
}

// Share makes the folder a cache of what is shared: that alone says which blobs there are, and
// what isn't in the folder, or is damaged there, is fetched. Recorded messages aren't cached.
// Share must be called before other methods, but for Sweep.
func (s *Store) Share(shared Shared) { s.shared = shared }

// Trim removes blobs from the folder that were stored or fetched as long ago as age, if they are
// shared. Until then, the folder keeps copies of those that other processes delete, which can't be
// opened any more.
func (s *Store) Trim(age time.Duration) (err error) {
	if s.shared == nil {
		return nil
	}
	for run, e := range s.folderRuns() {
		if e != nil {
			return errors.Join(err, e)
		}
		err = errors.Join(err, s.trimRun(run, age))
	}
	return err
}

func (s *Store) trimRun(run string, age time.Duration) error {
	entries, err := s.readRunDir(run)
	for _, e := range entries {
		if info, e2 := e.Info(); e2 == nil && checkName(e.Name()) == nil && time.Since(info.ModTime()) >= age {
			err = errors.Join(err, s.removeFile(run, e.Name()))
		}
	}
	s.folders.Lock()
	defer s.folders.Unlock()
	_ = s.root.Remove(run) // fails unless it is empty
	return err
}

// share copies a file to what is shared.
func (s *Store) share(ctx context.Context, run, digest string, size int64, file string) error {
	f, err := s.root.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.shared.Put(ctx, run, digest, size, f); err == nil || ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// orFetch calls open, which opens a blob in the folder. If that fails and the blob is shared, it
// is fetched, and open called again.
func (s *Store) orFetch(run, digest string, open func() error) error {
	if s.shared == nil {
		return open()
	}
	switch has, err := s.shared.Has(run, digest); {
	case err != nil:
		return err
	case !has:
		return errors.Join(ErrNotFound, s.removeFile(run, digest))
	}
	if err := open(); err == nil {
		return nil
	}
	if _, err, _ := s.fetches.Do(filepath.Join(run, digest), func() (any, error) { return nil, s.fetch(run, digest) }); err != nil {
		return err
	}
	return open()
}

// fetch copies a blob from what is shared, and verifies it.
func (s *Store) fetch(run, digest string) (err error) {
	temp, name := filepath.Join(run, tempPrefix+rand.Text()), filepath.Join(run, digest)
	defer func() {
		if err != nil {
			_ = s.root.Remove(temp) // it may not exist
		}
	}()
	switch got, _, err := s.writeFile(temp, checkedReader{context.Background(), s.disk, s.shared.Get(run, digest)}); {
	case err != nil:
		return err
	case got != digest:
		return ErrChanged
	}
	if err := s.root.RemoveAll(name); err != nil { // something that is no file may be in its place
		return err
	}
	return s.root.Rename(temp, name)
}
