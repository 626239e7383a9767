package jetstream_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// copyFolder copies the folder of an open log, which leaves the copy as a killed
// process would.
func copyFolder(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "log")
	if err := copyUnchanged(to, dir); err != nil {
		t.Fatal(err)
	}
	return to
}

// copyUnchanged copies a folder, again and again until nothing in it changed meanwhile:
// an open log also writes and removes files by itself, so that a single copy can have
// files of different moments.
func copyUnchanged(to, dir string) error {
	for {
		before, err := listFiles(dir)
		if err != nil {
			return err
		}
		copyErr := os.CopyFS(to, os.DirFS(dir))
		after, err := listFiles(dir)
		if err != nil {
			return err
		}
		if before == after && !errors.Is(copyErr, fs.ErrNotExist) { // times of change are coarse
			return copyErr
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
}

// listFiles returns the paths, sizes and times of change of what is in a folder.
func listFiles(dir string) (string, error) {
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since its folder was read
			fmt.Fprintln(&list, path, "is gone")
		case err != nil:
			return err
		default:
			fmt.Fprintln(&list, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return list.String(), err
}

func fileSize(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

func removeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// invertBytes inverts a few bytes of a file.
func invertBytes(t *testing.T, path string, at int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) < at+20 {
		t.Fatal(len(raw), err)
	}
	for i := range 20 {
		raw[at+i] ^= 0x55
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func truncateFile(t *testing.T, msgs, name string, at int) {
	t.Helper()
	if err := os.Truncate(filepath.Join(msgs, name), int64(at)); err != nil {
		t.Fatal(err)
	}
}

// flipBit flips one bit at an offset, which is relative to the end if negative.
func flipBit(t *testing.T, path string, at int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(raw)
	}
	raw[at] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
