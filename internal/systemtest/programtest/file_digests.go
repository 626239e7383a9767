package programtest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// FileDigests returns the digests of all files in a folder, by path, to tell whether
// something has changed them. Its folders are there, too.
func FileDigests(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = "folder"
			return err
		}
		f, err := os.Open(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		defer f.Close()
		digest := sha256.New()
		_, err = io.Copy(digest, f) // not all at once: the race detector remembers every byte
		all[path] = fmt.Sprintf("%x", digest.Sum(nil))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
