// Package blob stores data that is too large for a log: files, large artifacts and
// large answers. Each blob belongs to a run, is named by the SHA-256 digest of its
// content, and is deleted with the run. Several processes share blobs by what they have in
// common, a [Shared]; each then has a folder as a cache.
package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/diskspace"
)

// ErrNotFound means that the run has no such blob.
var ErrNotFound = errors.New("no such blob")

// A Store stores blobs in a folder, with a subfolder for each run. It may be used
// from several goroutines.
type Store struct {
	root *os.Root
	disk *diskspace.Disk
	// Blobs up to this size, in bytes, are verified before they are read.
	verifiedFirst int64

	shared  Shared // nil if only the folder has blobs
	fetches singleflight.Group
	folders sync.RWMutex // write-locked while an empty subfolder is removed
}

// Open returns the store in a folder. If the folder doesn't exist, Open creates
// it, accessible only to its owner.
func Open(dir string) (*Store, error) {
	if err := atomicfile.MakeDir(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{root: root, disk: diskspace.NewDisk(dir, diskspace.DefaultMinFree), verifiedFirst: maxVerifiedFirst}, nil
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

// Digest returns the digest under which [Store.Put] stores content.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Put stores everything that r yields, without holding it in memory. When Put
// returns, the blob is on the disk, or shared, so a log may refer to it. The error is r's,
// ctx's cause, [runlog.ErrDiskFull], or that of the file system or [Shared]; no blob is stored then.
func (s *Store) Put(ctx context.Context, run string, r io.Reader) (digest string, size int64, err error) {
	if err := checkName(run); err != nil {
		return "", 0, err
	}
	defer func() { err = diskspace.WrapDiskFull(err) }()
	temp := filepath.Join(run, tempPrefix+rand.Text())
	defer func() {
		if err != nil {
			_ = s.root.Remove(temp) // it may not exist
		}
	}()
	digest, size, err = s.writeFile(temp, checkedReader{ctx, s.disk, r})
	if err == nil && s.shared != nil {
		err = s.share(ctx, run, digest, size, temp)
	}
	if err != nil {
		return "", 0, err
	}
	if err := s.root.Rename(temp, filepath.Join(run, digest)); err != nil {
		return "", 0, err
	}
	return digest, size, s.syncDir(run)
}

// tempPrefix begins the names of blobs that are being written.
const tempPrefix = "incoming-"

// makeRunDir creates a run's folder and makes its name durable. If the folder
// exists, a concurrent Put may have just created it and not synced its name yet,
// so makeRunDir always syncs.
func (s *Store) makeRunDir(run string) error {
	if err := s.root.MkdirAll(run, 0o700); err != nil {
		return err
	}
	return s.syncDir(".")
}

// Sweep removes blobs that a killed process left incomplete. It must not be
// called while Put is running.
func (s *Store) Sweep() error {
	for run, err := range s.folderRuns() {
		if err != nil {
			return err
		}
		entries, err := s.readRunDir(run)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), tempPrefix) {
				if err := s.root.Remove(filepath.Join(run, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// syncDir makes the names in a folder durable, unless blobs are shared.
func (s *Store) syncDir(dir string) error {
	if s.shared != nil {
		return nil
	}
	f, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// createFile creates a file in the folder of a run.
func (s *Store) createFile(name string) (*os.File, error) {
	s.folders.RLock()
	defer s.folders.RUnlock()
	if err := s.makeRunDir(filepath.Dir(name)); err != nil {
		return nil, err
	}
	return s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

func (s *Store) writeFile(name string, r io.Reader) (digest string, size int64, err error) {
	f, err := s.createFile(name)
	if err != nil {
		return "", 0, err
	}
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(f, hash), r)
	if err == nil && s.shared == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}

// Open opens a blob for reading, whatever it contains now; see [Store.OpenVerified]. The
// error is [ErrNotFound], or that of the file system or [Shared].
func (s *Store) Open(run, digest string) (f io.ReadSeekCloser, err error) {
	if err := errors.Join(checkName(run), checkName(digest)); err != nil {
		return nil, err
	}
	err = s.orFetch(run, digest, func() (err error) {
		f, err = s.root.Open(filepath.Join(run, digest))
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrNotFound
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Has reports whether a run has a blob, whatever it contains now.
func (s *Store) Has(run, digest string) (bool, error) {
	if err := errors.Join(checkName(run), checkName(digest)); err != nil {
		return false, err
	}
	if s.shared != nil {
		return s.shared.Has(run, digest)
	}
	_, err := s.root.Stat(filepath.Join(run, digest))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Remove deletes a blob. Removing a blob that doesn't exist is no error.
func (s *Store) Remove(run, digest string) error {
	if err := errors.Join(checkName(run), checkName(digest)); err != nil {
		return err
	}
	if s.shared != nil {
		if err := s.shared.Remove(run, digest); err != nil {
			return err
		}
	}
	return s.removeFile(run, digest)
}

// removeFile removes a blob from the folder, if it is there.
func (s *Store) removeFile(run, digest string) error {
	err := s.root.Remove(filepath.Join(run, digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// DeleteRun deletes all blobs of a run, and its messages.
func (s *Store) DeleteRun(run string) error {
	if err := checkName(run); err != nil {
		return err
	}
	if s.shared != nil {
		if err := s.shared.DeleteRun(run); err != nil {
			return err
		}
	}
	return s.root.RemoveAll(run)
}

// Runs yields the runs that have blobs.
func (s *Store) Runs() iter.Seq2[string, error] {
	if s.shared != nil {
		return s.shared.Runs()
	}
	return s.folderRuns()
}

// folderRuns yields the runs that have subfolders.
func (s *Store) folderRuns() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		f, err := s.root.Open(".")
		if err != nil {
			yield("", err)
			return
		}
		names, err := f.Readdirnames(-1)
		if err = errors.Join(err, f.Close()); err != nil {
			yield("", err)
			return
		}
		for _, name := range names {
			if checkName(name) == nil && !yield(name, nil) {
				return
			}
		}
	}
}

// RunSize returns the total size of a run's blobs in bytes.
func (s *Store) RunSize(run string) (n int64, err error) {
	for b, err := range s.RunBlobs(run) {
		if err != nil {
			return n, err
		}
		n += b.Size
	}
	return n, nil
}

// A Blob describes one of a run's blobs.
type Blob struct {
	Digest string
	Size   int64
}

// RunBlobs yields the blobs of a run.
func (s *Store) RunBlobs(run string) iter.Seq2[Blob, error] {
	if s.shared != nil {
		return s.shared.RunBlobs(run)
	}
	return func(yield func(Blob, error) bool) {
		entries, err := s.readRunDir(run)
		if err != nil {
			yield(Blob{}, err)
			return
		}
		for _, e := range entries {
			if checkName(e.Name()) != nil {
				continue // it is being written
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				yield(Blob{}, err)
				return
			}
			if !yield(Blob{e.Name(), info.Size()}, nil) {
				return
			}
		}
	}
}

func (s *Store) readRunDir(run string) ([]fs.DirEntry, error) {
	if err := checkName(run); err != nil {
		return nil, err
	}
	f, err := s.root.Open(run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	return entries, errors.Join(err, f.Close())
}

// checkName returns an error unless a name has only hexadecimal digits, like run
// ids and digests. It keeps names from leaving the folder.
func checkName(name string) error {
	if name == "" || strings.Trim(name, "0123456789abcdef") != "" {
		return fmt.Errorf("invalid run id or digest %q", name)
	}
	return nil
}

// checkedReader fails when its context ends, or when there is no space on the disk
// for what it has read.
type checkedReader struct {
	ctx  context.Context
	disk *diskspace.Disk
	io.Reader
}

func (r checkedReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	n, err := r.Reader.Read(p)
	if full := r.disk.CheckWrite(n); full != nil {
		return 0, full
	}
	return n, err
}
