package blob_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/runlog/blob"
)

// large is the size of a blob that isn't verified before it is read.
const large = 1 << 20

func openStoreOfLarge(t *testing.T) (*blob.Store, string) {
	s, dir := openStore(t)
	s.VerifyFirst(large / 4)
	return s, dir
}

// stored stores a blob, damages its file, and returns its name.
func stored(t testing.TB, s *blob.Store, dir string, content []byte, damage func(t testing.TB, path string)) (digest string) {
	t.Helper()
	digest, _, err := s.Put(t.Context(), testRunID, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	damage(t, filepath.Join(dir, testRunID, digest))
	return digest
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func flipByte(at int64) func(testing.TB, string) {
	return func(t testing.TB, path string) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		defer f.Close()
		var b [1]byte
		_, err = f.ReadAt(b[:], at)
		must(t, err)
		b[0] ^= 1
		_, err = f.WriteAt(b[:], at)
		must(t, err)
	}
}

var damages = map[string]struct {
	do   func(t testing.TB, path string)
	want error
}{
	"changed at its beginning": {flipByte(0), blob.ErrChanged},
	"changed at its end":       {flipByte(999), blob.ErrChanged},
	"truncated":                {func(t testing.TB, p string) { must(t, os.Truncate(p, 400)) }, blob.ErrChanged},
	"emptied":                  {func(t testing.TB, p string) { must(t, os.Truncate(p, 0)) }, blob.ErrChanged},
	"longer":                   {func(t testing.TB, p string) { must(t, os.Truncate(p, 5000)) }, blob.ErrChanged},
	"a link": {func(t testing.TB, p string) {
		must(t, os.Rename(p, p+"0"), os.Symlink(filepath.Base(p)+"0", p))
	}, blob.ErrChanged},
	"a folder":   {func(t testing.TB, p string) { must(t, os.Remove(p), os.Mkdir(p, 0o700)) }, blob.ErrChanged},
	"a pipe":     {func(t testing.TB, p string) { must(t, os.Remove(p), syscall.Mkfifo(p, 0o600)) }, blob.ErrChanged},
	"missing":    {func(t testing.TB, p string) { must(t, os.Remove(p)) }, blob.ErrNotFound},
	"unreadable": {func(t testing.TB, p string) { must(t, os.Chmod(p, 0)) }, os.ErrPermission},
}

// Of a damaged small blob, nothing is read.
func TestDamagedBlob(t *testing.T) {
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			if name == "unreadable" && os.Getuid() == 0 {
				t.Skip("root reads everything")
			}
			s, dir := openStore(t)
			digest := stored(t, s, dir, randomBytes(1000), d.do)
			var reason error
			told := errors.New("told")
			r, err := s.OpenVerified(testRunID, digest, func(err error) error { reason = err; return told })
			if r != nil || !errors.Is(err, told) || !errors.Is(reason, d.want) {
				t.Errorf("opened %v, %v; the reason is %v", r, err, reason)
			}
			if again, _, err := s.Put(t.Context(), testRunID, bytes.NewReader(randomBytes(1000))); name != "a folder" && (err != nil || again != digest) {
				t.Errorf("storing it again: %v", err)
			}
		})
	}
}

// The end of a damaged large blob isn't read, and of ranges nothing.
func TestDamagedLargeBlob(t *testing.T) {
	s, dir := openStoreOfLarge(t)
	content := randomBytes(large)
	for name, damage := range map[string]func(testing.TB, string){
		"changed":   flipByte(large / 2),
		"truncated": func(t testing.TB, p string) { must(t, os.Truncate(p, large-1)) },
	} {
		digest := stored(t, s, dir, content, damage)
		told := errors.New("told")
		open := func() io.ReadSeekCloser {
			r, err := s.OpenVerified(testRunID, digest, func(error) error { return told })
			must(t, err)
			t.Cleanup(func() { r.Close() })
			return r
		}
		if n, err := io.Copy(io.Discard, open()); n >= large-1 || !errors.Is(err, told) {
			t.Errorf("%s: read %d bytes, %v", name, n, err)
		}
		r := open()
		_, err := r.Seek(-100, io.SeekEnd)
		must(t, err)
		if n, err := io.Copy(io.Discard, r); n != 0 || !errors.Is(err, told) {
			t.Errorf("%s: read %d bytes of a range, %v", name, n, err)
		}
	}
}

// A blob that is changed or truncated while it is read fails too.
func TestBlobIsDamagedWhileItIsRead(t *testing.T) {
	s, dir := openStoreOfLarge(t)
	digest := stored(t, s, dir, randomBytes(large), func(testing.TB, string) {})
	told := errors.New("told")
	r, err := s.OpenVerified(testRunID, digest, func(error) error { return told })
	must(t, err)
	defer r.Close()
	_, err = io.CopyN(io.Discard, r, 1000)
	must(t, err)
	must(t, os.Truncate(filepath.Join(dir, testRunID, digest), large/2))
	if n, err := io.Copy(io.Discard, r); n > large/2 || !errors.Is(err, told) {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

// A whole large blob can be read in any order.
func TestSeekInLargeBlob(t *testing.T) {
	s, dir := openStoreOfLarge(t)
	content := randomBytes(large)
	digest := stored(t, s, dir, content, func(testing.TB, string) {})
	r, err := s.OpenVerified(testRunID, digest, func(err error) error { return err })
	must(t, err)
	defer r.Close()
	order := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		from, n := order.IntN(large), order.IntN(1<<16)
		_, err := r.Seek(int64(from), io.SeekStart)
		must(t, err)
		part, err := io.ReadAll(io.LimitReader(r, int64(n)))
		if want := content[from:min(from+n, large)]; err != nil || !bytes.Equal(part, want) {
			t.Fatalf("%d bytes from %d: %v", n, from, err)
		}
	}
	_, err = r.Seek(0, io.SeekStart)
	must(t, err)
	if all, err := io.ReadAll(r); err != nil || !bytes.Equal(all, content) {
		t.Error("the whole differs", err)
	}
}

func BenchmarkOpen(b *testing.B) {
	for name, n := range map[string]int{"64KB": 64 << 10, "1MB": 1 << 20, "60MB": 60 << 20, "100MB": 100 << 20} {
		dir := b.TempDir()
		s, err := blob.Open(dir)
		must(b, err)
		digest := stored(b, s, dir, randomBytes(n), func(testing.TB, string) {})
		read := func(b *testing.B, open func() (io.ReadSeekCloser, error)) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			buffer := make([]byte, 32<<10)
			for b.Loop() {
				r, err := open()
				must(b, err)
				_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, buffer)
				must(b, err, r.Close())
			}
		}
		b.Run(name+"/unverified", func(b *testing.B) {
			read(b, func() (io.ReadSeekCloser, error) { return s.Open(testRunID, digest) })
		})
		b.Run(name+"/verified", func(b *testing.B) {
			read(b, func() (io.ReadSeekCloser, error) {
				return s.OpenVerified(testRunID, digest, func(err error) error { return err })
			})
		})
	}
}
