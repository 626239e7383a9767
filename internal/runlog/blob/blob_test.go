package blob_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/runlog/blob/blobtest"
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

func TestStore(t *testing.T) {
	blobtest.RunSuite(t, func(t *testing.T) *blob.Store {
		s, _ := openStore(t)
		return s
	})
}

func TestFailedPutLeavesNoFile(t *testing.T) {
	s, dir := openStore(t)
	if _, _, err := s.Put(t.Context(), testRunID, iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Put returned %v", err)
	}
	left, err := os.ReadDir(filepath.Join(dir, testRunID))
	if err != nil || len(left) != 0 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

func TestFolderIsPrivate(t *testing.T) {
	s, dir := openStore(t)
	digest := blobtest.MustPut(t, s, testRunID, "content")
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
	digest := blobtest.MustPut(t, s, testRunID, "content")
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
