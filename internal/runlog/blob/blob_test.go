package blob_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog/blob"
)

const testRunID = "7f3c"

func openStore(t *testing.T) (*blob.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	s, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func mustPut(t *testing.T, s *blob.Store, run, text string) string {
	t.Helper()
	digest, size, err := s.Put(t.Context(), run, strings.NewReader(text))
	if err != nil || size != int64(len(text)) {
		t.Fatal(size, err)
	}
	return digest
}

func TestPutAndOpen(t *testing.T) {
	s, _ := openStore(t)
	digest := mustPut(t, s, testRunID, "content")
	if want := "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"; digest != want {
		t.Errorf("digest %s, want the SHA-256 %s", digest, want)
	}
	for range 2 {
		r, err := s.Open(testRunID, digest)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); string(text) != "content" || err != nil {
			t.Errorf("read %q, %v", text, err)
		}
		r.Close()
	}
	if again := mustPut(t, s, testRunID, "content"); again != digest {
		t.Error("the same content has another digest")
	}
}

func TestBlobsBelongToTheirRun(t *testing.T) {
	s, _ := openStore(t)
	digest := mustPut(t, s, testRunID, "content")
	if _, err := s.Open("8888", digest); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("opening another run's blob: %v", err)
	}
	mustPut(t, s, "8888", "content")
	if err := s.DeleteRun(testRunID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(testRunID, digest); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("opening a deleted blob: %v", err)
	}
	r, err := s.Open("8888", digest)
	if err != nil {
		t.Fatalf("opening the other run's blob: %v", err)
	}
	r.Close()
	if err := s.Remove("8888", digest); err != nil {
		t.Error(err)
	}
	if err := s.Remove("8888", digest); err != nil {
		t.Errorf("removing a blob that doesn't exist: %v", err)
	}
}

func TestNamesCannotEscape(t *testing.T) {
	s, dir := openStore(t)
	outside := filepath.Join(dir, "..", "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "..", "../outside", "/etc/passwd", "a/b", "A", "7f3c\x00"} {
		if _, err := s.Open(testRunID, name); err == nil {
			t.Errorf("opened %q", name)
		}
		if _, err := s.Open(name, "aa"); err == nil {
			t.Errorf("opened in %q", name)
		}
		if _, _, err := s.Put(t.Context(), name, strings.NewReader("x")); err == nil {
			t.Errorf("put into %q", name)
		}
		if err := s.DeleteRun(name); err == nil {
			t.Errorf("deleted %q", name)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestFailedPutLeavesNothing(t *testing.T) {
	s, dir := openStore(t)
	if _, _, err := s.Put(t.Context(), testRunID, io.MultiReader(strings.NewReader("half"), failingReader{})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Put returned %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Put(ctx, testRunID, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context, Put returned %v", err)
	}
	left, err := os.ReadDir(filepath.Join(dir, testRunID))
	if err != nil || len(left) != 0 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

func TestFolderIsPrivate(t *testing.T) {
	s, dir := openStore(t)
	digest := mustPut(t, s, testRunID, "content")
	for name, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, testRunID): 0o700, filepath.Join(dir, testRunID, digest): 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

// Sweep removes incomplete blobs and keeps complete ones.
func TestSweep(t *testing.T) {
	s, dir := openStore(t)
	digest := mustPut(t, s, testRunID, "content")
	half := filepath.Join(dir, testRunID, "incoming-ABC")
	if err := os.WriteFile(half, []byte("con"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, testRunID))
	if err != nil || len(left) != 1 || left[0].Name() != digest {
		t.Errorf("the folder has %v; %v", left, err)
	}
}
