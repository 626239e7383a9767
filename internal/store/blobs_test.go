package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/runlog/blob/blobtest"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// sharedBlobs are blobs in the database of a store.
type sharedBlobs struct {
	blob.Shared
	store *store.Store
	db    *sql.DB
}

// open opens them in another process.
func (b sharedBlobs) open(t *testing.T) (s *blob.Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.Share(b)
	return s, dir
}

// exec executes a statement, and checks that it changes n rows.
func (b sharedBlobs) exec(t *testing.T, n int64, statement string, args ...any) {
	t.Helper()
	res, err := b.db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := res.RowsAffected(); got != n || err != nil {
		t.Fatalf("%s: %d rows, %v", statement, got, err)
	}
}

// testBlobs tests shared blobs in any database.
func testBlobs(t *testing.T, open func(t *testing.T) sharedBlobs) {
	t.Run("Suite", func(t *testing.T) {
		blobtest.RunSuite(t, func(t *testing.T) *blob.Store {
			s, _ := open(t).open(t)
			return s
		})
	})
	for name, test := range map[string]func(*testing.T, sharedBlobs){
		"ProcessesShare": testProcessesShare, "DamagedCache": testDamagedCache, "DamagedRows": testDamagedRows, "CutOffPut": testCutOffPut,
		"Runs": testRunsWithBlobs, "Trim": testTrim, "Unavailable": testUnavailableBlobs, "Large": testLargeBlob,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func TestBlobs(t *testing.T) {
	testBlobs(t, func(t *testing.T) sharedBlobs {
		dir := t.TempDir()
		s := openStore(t, store.Options{Dir: dir})
		db, err := sqlite.OpenFile(sqlite.Path(dir), 4)
		if err != nil {
			t.Fatal(err)
		}
		shared, closeStatements := store.BlobsIn(s, db)
		t.Cleanup(func() {
			if err := errors.Join(closeStatements(), db.Close()); err != nil {
				t.Error(err)
			}
		})
		return sharedBlobs{shared, s, db}
	})
}

const blobRun = "7f3c"

// content is that of a blob of three chunks.
var content = func() string {
	b := make([]byte, 600<<10)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return string(b)
}()

func checkContent(t *testing.T, s *blob.Store, digest string) {
	t.Helper()
	if got, err := s.Load(blobRun, digest); string(got) != content || err != nil {
		t.Errorf("%d bytes are read, %v", len(got), err)
	}
	f, err := s.Open(blobRun, digest)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); string(got) != content || err != nil {
		t.Errorf("%d bytes are read, %v", len(got), err)
	}
}

// What one process stores, or deletes, is so for the others.
func testProcessesShare(t *testing.T, shared sharedBlobs) {
	a, dir := shared.open(t)
	b, _ := shared.open(t)
	digest, small := blobtest.MustPut(t, a, blobRun, content), blobtest.MustPut(t, b, blobRun, "small")
	checkContent(t, b, digest)
	checkContent(t, a, digest)
	if err := errors.Join(b.Verify(blobRun, digest), a.Verify(blobRun, small), a.WriteMessages(blobRun, []byte("1")), b.AppendMessages(blobRun, []byte("2"))); err != nil {
		t.Error(err)
	}
	if lines, err := a.ReadMessages(blobRun); string(lines) != "12" || err != nil {
		t.Errorf("the messages are %q, %v", lines, err)
	}
	if n, err := a.RunSize(blobRun); n != int64(len(content)+len("small")) || err != nil {
		t.Errorf("RunSize returns %d, %v", n, err)
	}
	if err := b.Remove(blobRun, small); err != nil {
		t.Error(err)
	}
	if has, err := a.Has(blobRun, small); has || err != nil {
		t.Error("another process doesn't see that a blob was removed", err)
	}
	if err := b.DeleteRun(blobRun); err != nil {
		t.Fatal(err)
	}
	if has, err := a.Has(blobRun, digest); has || err != nil {
		t.Error("another process doesn't see that a run was deleted", err)
	}
	if _, err := a.Open(blobRun, digest); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("opening what another process has deleted: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, blobRun, digest)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its copy is still there: %v", err)
	}
}

// What is wrong with the folder is put right.
func testDamagedCache(t *testing.T, shared sharedBlobs) {
	s, dir := shared.open(t)
	digest := blobtest.MustPut(t, s, blobRun, content)
	file := filepath.Join(dir, blobRun, digest)
	for name, damage := range map[string]func() error{
		"missing":   func() error { return os.Remove(file) },
		"changed":   func() error { return os.WriteFile(file, []byte(content[1:]+"x"), 0o600) },
		"truncated": func() error { return os.Truncate(file, 1000) },
		"a folder":  func() error { return errors.Join(os.Remove(file), os.MkdirAll(file+"/x", 0o700)) },
		"no run":    func() error { return os.RemoveAll(filepath.Dir(file)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { checkContent(t, s, digest) })
	}
}

// A blob that is damaged in the database is refused, and whole when it is stored again.
func testDamagedRows(t *testing.T, shared sharedBlobs) {
	s, _ := shared.open(t)
	digest := blobtest.MustPut(t, s, blobRun, content)
	var chunk []byte
	if err := shared.db.QueryRowContext(t.Context(), "SELECT data FROM blobs WHERE n = 1").Scan(&chunk); err != nil {
		t.Fatal(err)
	}
	chunk[5000] ^= 1
	for name, d := range map[string]struct {
		want      error
		statement string
		args      []any
	}{
		"changed":       {blob.ErrChanged, "UPDATE blobs SET data = $1 WHERE n = 1", []any{chunk}},
		"shorter":       {blob.ErrChanged, "UPDATE blobs SET data = $1 WHERE n = 1", []any{chunk[1:]}},
		"emptied":       {blob.ErrChanged, "UPDATE blobs SET data = $1 WHERE n = 2", []any{[]byte{}}},
		"missing":       {blob.ErrChanged, "DELETE FROM blobs WHERE n = 1", nil},
		"last missing":  {blob.ErrChanged, "DELETE FROM blobs WHERE n = 2", nil},
		"first missing": {blob.ErrNotFound, "DELETE FROM blobs WHERE n = 0", nil},
		"smaller":       {blob.ErrChanged, "UPDATE blobs SET size = 10 WHERE n = 0", nil},
		"larger":        {blob.ErrChanged, "UPDATE blobs SET size = size + 1 WHERE n = 0", nil},
	} {
		shared.exec(t, 1, d.statement, d.args...)
		other, dir := shared.open(t)
		told := false
		if _, err := other.OpenVerified(blobRun, digest, func(reason error) error { told = true; return reason }); !errors.Is(err, d.want) || !told {
			t.Errorf("%s: %v, told %v; want %v", name, err, told, d.want)
		}
		if _, err := other.Open(blobRun, digest); !errors.Is(err, d.want) {
			t.Errorf("%s: %v, want %v", name, err, d.want)
		}
		if left, _ := os.ReadDir(filepath.Join(dir, blobRun)); len(left) > 0 {
			t.Errorf("%s: the folder has %v", name, left)
		}
		blobtest.MustPut(t, s, blobRun, content)
		checkContent(t, other, digest)
	}
}

// Nothing can be read of a blob that was not stored whole.
func testCutOffPut(t *testing.T, shared sharedBlobs) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	half := strings.NewReader(content[:300<<10])
	for _, put := range []struct {
		ctx  context.Context
		rest io.Reader
	}{
		{t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF)},
		{ctx, readerFunc(func([]byte) (int, error) { cancel(); return 0, io.ErrUnexpectedEOF })},
	} {
		half.Reset(content[:300<<10])
		digest := blob.Digest([]byte(content))
		if err := shared.Put(put.ctx, blobRun, digest, int64(len(content)), io.MultiReader(half, put.rest)); err == nil {
			t.Error("the failed Put returned no error")
		}
		if _, err := io.ReadAll(shared.Get(blobRun, digest)); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("reading it: %v", err)
		}
	}
	shared.exec(t, 0, "DELETE FROM blobs")
	broken := errors.New("the network is down")
	s, dir := shared.open(t)
	s.Share(unavailable{shared, broken})
	if _, _, err := s.Put(t.Context(), blobRun, strings.NewReader(content)); !errors.Is(err, broken) {
		t.Errorf("Put returned %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, blobRun)); len(left) > 0 || err != nil {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A run that has blobs and doesn't exist is listed when it is certain that it won't start.
func testRunsWithBlobs(t *testing.T, shared sharedBlobs) {
	s, _ := shared.open(t)
	check := func(want ...string) {
		t.Helper()
		var got []string
		for run, err := range s.Runs() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, run)
		}
		if !slices.Equal(got, want) {
			t.Errorf("there are %v, want %v", got, want)
		}
	}
	blobtest.MustPut(t, s, "aa", content)
	blobtest.MustPut(t, s, "bb", content)
	blobtest.MustPut(t, s, "bb", "another")
	check()
	startRun(t, shared.store, "bb", runlog.Started{})
	check("bb")
	shared.exec(t, 3, "UPDATE blobs SET stored = $1 WHERE run = 'aa'", time.Now().Add(-2*time.Hour).UnixNano())
	check("aa", "bb")
}

// The folder keeps blobs for a time only.
func testTrim(t *testing.T, shared sharedBlobs) {
	s, dir := shared.open(t)
	digest := blobtest.MustPut(t, s, blobRun, content)
	incoming := filepath.Join(dir, "aa", "incoming-X")
	if err := errors.Join(os.Mkdir(filepath.Dir(incoming), 0o700), os.WriteFile(incoming, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]bool{time.Hour: true, 0: false} {
		if err := s.Trim(age); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, blobRun)); (err == nil) != want {
			t.Errorf("after %v, the folder: %v", age, err)
		}
		checkContent(t, s, digest)
	}
	if _, err := os.Stat(incoming); err != nil {
		t.Errorf("what is being written: %v", err)
	}
}

// unavailable are shared blobs of which nothing can be read or written, only whether they exist.
type unavailable struct {
	blob.Shared
	err error
}

func (u unavailable) Put(context.Context, string, string, int64, io.Reader) error { return u.err }
func (u unavailable) Get(string, string) io.Reader                                { return iotest.ErrReader(u.err) }

// A blob that can't be fetched is not told to be damaged.
func testUnavailableBlobs(t *testing.T, shared sharedBlobs) {
	s, _ := shared.open(t)
	digest := blobtest.MustPut(t, s, blobRun, content)
	other, _ := shared.open(t)
	broken := errors.New("the network is down")
	other.Share(unavailable{shared, broken})
	_, err := other.OpenVerified(blobRun, digest, func(reason error) error {
		t.Errorf("it is told to be damaged: %v", reason)
		return reason
	})
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// A blob that isn't verified before it is read, and turns out to be damaged in the folder, is
// fetched the next time.
func testLargeBlob(t *testing.T, shared sharedBlobs) {
	if testing.Short() {
		t.Skip("it stores 65 MB")
	}
	s, dir := shared.open(t)
	large := bytes.Repeat([]byte{1}, 64<<20+1)
	digest, _, err := s.Put(t.Context(), blobRun, bytes.NewReader(large))
	if err != nil {
		t.Fatal(err)
	}
	large[10] = 2
	if err := os.WriteFile(filepath.Join(dir, blobRun, digest), large, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(blobRun, digest); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("the damaged copy: %v", err)
	}
	if err := s.Verify(blobRun, digest); err != nil {
		t.Errorf("the next time: %v", err)
	}
}
