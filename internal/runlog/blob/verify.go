package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged means that a blob has another digest than its name says.
var ErrChanged = errors.New("its content is not what was stored")

// maxVerifiedFirst is the size of the largest blob, in bytes, that is verified before its
// first byte is read, so that whoever reads it can say what is wrong with it instead. It
// takes some milliseconds for 1 MB, and 0.1 s for this size.
const maxVerifiedFirst = 64 << 20

// OpenVerified is [Store.Open] for readers who need what was stored. They get no part of a
// damaged blob that has up to 64 MiB. A larger one that is read from its beginning is verified
// meanwhile, and then reading its last part fails instead; one that is read from elsewhere is
// verified first. damaged is called with what is wrong with it ([ErrNotFound],
// [ErrChanged] or the file system's error), and returns the error. It isn't called if the blob
// can't be fetched now; the error is then that of [Shared] or the file system.
func (s *Store) OpenVerified(run, digest string, damaged func(reason error) error) (io.ReadSeekCloser, error) {
	if err := errors.Join(checkName(run), checkName(digest)); err != nil {
		return nil, err
	}
	name := filepath.Join(run, digest)
	var v *verifier
	err := s.orFetch(run, digest, func() (err error) {
		v, err = s.openVerifier(name, digest)
		return err
	})
	switch _, unreadable := errors.AsType[*readError](err); {
	case unreadable, errors.Is(err, ErrNotFound), errors.Is(err, ErrChanged):
		return nil, damaged(err)
	case err != nil:
		return nil, err
	case v.hash == nil:
		return v.file, nil
	}
	v.damaged = func(reason error) error {
		if s.shared != nil {
			_ = s.root.RemoveAll(name) // so that it is fetched again
		}
		return damaged(reason)
	}
	return v, nil
}

// openVerifier opens a blob in the folder. It verifies one that is small.
func (s *Store) openVerifier(name, digest string) (*verifier, error) {
	f, size, err := s.openRegular(name)
	if err != nil {
		return nil, err
	}
	v := &verifier{file: f, size: size, digest: digest, hash: sha256.New(), damaged: func(reason error) error { return reason }}
	if size <= s.verifiedFirst {
		if err := v.verifyAll(); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return v, nil
}

// Load returns a blob, which is verified. The error is [ErrNotFound], [ErrChanged], or that of the
// file system or [Shared].
func (s *Store) Load(run, digest string) ([]byte, error) {
	f, err := s.OpenVerified(run, digest, func(reason error) error { return reason })
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Verify reads a blob whole. The error is that of [Store.Load].
func (s *Store) Verify(run, digest string) error {
	f, err := s.OpenVerified(run, digest, func(reason error) error { return reason })
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return errors.Join(err, f.Close())
}

// openRegular opens a file and returns its size. What stands in for a file is not opened: a
// link could lead elsewhere, and a pipe would block.
func (s *Store) openRegular(name string) (*os.File, int64, error) {
	info, err := s.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, ErrNotFound
	case err != nil:
		return nil, 0, describeFileError(err)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%w: something that is no file is in its place", ErrChanged)
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, 0, describeFileError(err)
	}
	return f, info.Size(), nil
}

// describeFileError returns an error of the file system without the path, which only
// operators need, and who find it by the digest.
func describeFileError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &readError{err}
}

// A readError is an error of the file system.
type readError struct{ error }

func (e *readError) Error() string { return "it can't be read: " + e.error.Error() }
func (e *readError) Unwrap() error { return e.error }

// A verifier reads a blob and verifies it.
type verifier struct {
	file    *os.File
	size    int64
	digest  string
	hash    hash.Hash // of what has been read from the beginning; nil once the blob is verified
	hashed  int64     // how many bytes that are
	at      int64     // where the next Read begins
	damaged func(error) error
	err     error // what is wrong with the blob
}

var _ io.ReadSeekCloser = (*verifier)(nil)

// Read implements [io.Reader]. It returns the end of a blob only if all of it is right.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	if v.hash != nil && v.at != v.hashed {
		if err := v.verifyAll(); err != nil {
			return 0, err
		}
		if _, err := v.file.Seek(v.at, io.SeekStart); err != nil {
			return 0, v.fail(describeFileError(err))
		}
	}
	if v.at >= v.size {
		return 0, io.EOF
	}
	n, err := v.file.Read(p[:min(int64(len(p)), v.size-v.at)])
	v.at += int64(n)
	if v.hash != nil {
		v.hash.Write(p[:n])
		v.hashed += int64(n)
		if v.hashed == v.size {
			if err := v.checkDigest(); err != nil {
				return 0, err
			}
		}
	}
	switch {
	case errors.Is(err, io.EOF) && v.at < v.size:
		return 0, v.fail(ErrChanged) // it was truncated meanwhile
	case err != nil && !errors.Is(err, io.EOF):
		return 0, v.fail(describeFileError(err))
	}
	return n, nil
}

// Seek implements [io.Seeker].
func (v *verifier) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += v.at
	case io.SeekEnd:
		offset += v.size
	}
	at, err := v.file.Seek(offset, io.SeekStart)
	if err == nil {
		v.at = at
	}
	return v.at, err
}

// Close implements [io.Closer].
func (v *verifier) Close() error { return v.file.Close() }

// verifyAll reads and verifies the whole blob, and leaves the file at its beginning.
func (v *verifier) verifyAll() error {
	v.hash.Reset()
	_, err := v.file.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(v.hash, struct{ io.Reader }{io.LimitReader(v.file, v.size)})
	}
	if err == nil {
		if err := v.checkDigest(); err != nil {
			return err
		}
		_, err = v.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return v.fail(describeFileError(err))
	}
	return nil
}

// checkDigest compares the digest of the whole blob, which has been hashed.
func (v *verifier) checkDigest() error {
	if hex.EncodeToString(v.hash.Sum(nil)) != v.digest {
		return v.fail(ErrChanged)
	}
	v.hash = nil
	return nil
}

func (v *verifier) fail(reason error) error {
	v.err = v.damaged(reason)
	return v.err
}
