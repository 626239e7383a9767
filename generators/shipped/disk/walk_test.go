package disk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/shipped/disk"
)

// Nothing outside of the root can be accessed: not by a path, not by a link in the
// path, and not by a link in the folder.
func TestNothingOutsideIsReached(t *testing.T) {
	place := makeTree(t, t.TempDir(), map[string]int64{"root/in/a.txt": 5, "secret/key.pem": 999, "root/file": 3})
	root := filepath.Join(place, "root")
	for link, target := range map[string]string{
		"out": "../secret", "absolute": filepath.Join(place, "secret"), "up": "..", "in/out": "../../secret",
		"key": "../secret/key.pem", "loop": "loop", "in/circle": "..", "inside": "in", "dangling": "nowhere",
	} {
		must(t, os.Symlink(target, filepath.Join(root, link)))
	}
	for folder, want := range map[string]string{
		"..": "is not below", "../secret": "is not below", "in/../../secret": "is not below", place: "is not below", "/": "is not below",
		"out": "path escapes", "absolute": "path escapes", "up": "path escapes", "up/secret": "path escapes", "in/out": "path escapes",
		"in/circle/out": "path escapes", "loop": "symbolic links", "dangling": "no such file", "nowhere": "no such file", "file": "not a directory",
		"key": "path escapes", "a\x00b": "invalid argument",
	} {
		err := runError(t, root, `{"folder":"`+strings.ReplaceAll(folder, "\x00", `\u0000`)+`"}`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("folder %q: got %v, want an error with %q", folder, err, want)
		}
		if err != nil && folder != place && strings.Contains(err.Error(), place) {
			t.Errorf("folder %q: %v discloses where the root is", folder, err)
		}
	}

	got := beamtest.Decode[disk.Report](t, run(t, root, `{}`, chooseList("largest")))
	if describeItems(got) != "in/a.txt=5 file=3" || got.Folders != 1 {
		t.Errorf("got %+v", got)
	}
	if w := strings.Join(got.Warnings, "\n"); !strings.HasPrefix(w, "9 symbolic links were not followed, such as ") || len(got.Warnings) != 1 {
		t.Errorf("the warnings are %s", w)
	}
	got = beamtest.Decode[disk.Report](t, run(t, root, `{"folder":"inside"}`, chooseList("largest")))
	if describeItems(got) != "a.txt=5" {
		t.Errorf("through a link within the root: got %s", describeItems(got))
	}
}

func TestUnreadableFoldersAreSkipped(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read everything; see TestUnreadableEntriesAreCounted")
	}
	root := makeTree(t, t.TempDir(), map[string]int64{"a.txt": 5, "locked/b.txt": 7, "z/c.txt": 2, "unlisted/d.txt": 1})
	for name, mode := range map[string]os.FileMode{"locked": 0, "unlisted": 0o600} {
		path := filepath.Join(root, name)
		must(t, os.Chmod(path, mode))
		t.Cleanup(func() { must(t, os.Chmod(path, 0o755)) })
	}
	p := run(t, root, `{}`, chooseList("largest"))
	got := beamtest.Decode[disk.Report](t, p)
	if describeItems(got) != "a.txt=5 z/c.txt=2" || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "2 files or folders couldn't be read") {
		t.Errorf("got %+v", got)
	}
	checkProgress(t, p)
	if err := runError(t, root, `{"folder":"locked"}`); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
}

func TestMissingRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "gone")
	if err := runError(t, root, `{}`); err == nil || !strings.Contains(err.Error(), "no such file") || strings.Contains(err.Error(), root) {
		t.Errorf("got %v", err)
	}
}

// Only the largest files are listed, in a fixed order. The folder has more entries
// than are read at once.
func TestManyFiles(t *testing.T) {
	sizes := map[string]int64{}
	for i := range 600 {
		sizes[fmt.Sprintf("many/f%04d.t%d", i, i)] = int64(i / 2)
	}
	root := makeTree(t, t.TempDir(), sizes)
	p := run(t, root, `{}`, chooseList("largest"))
	got := beamtest.Decode[disk.Report](t, p)
	if got.Files != 600 || len(got.Items) != 50 {
		t.Fatalf("%d files, of which %d are listed", got.Files, len(got.Items))
	}
	for i, item := range got.Items { // pairs of the same size
		if want := fmt.Sprintf("many/f%04d", 598-i/2*2+i%2); !strings.HasPrefix(item.Name, want) {
			t.Errorf("item %d is %+v, want %s", i, item, want)
		}
	}
	checkProgress(t, p)

	got = beamtest.Decode[disk.Report](t, run(t, root, `{}`, chooseList("types")))
	last := got.Items[len(got.Items)-1]
	if len(got.Items) != 51 || last.Name != "(other)" || last.Files != 550 {
		t.Errorf("%d types, the last is %+v", len(got.Items), last)
	}
	files, bytes := 0, int64(0)
	for _, i := range got.Items {
		files, bytes = files+i.Files, bytes+i.Bytes
	}
	if files != got.Files || bytes != got.Bytes {
		t.Errorf("the types have %d files and %d bytes, want %d and %d", files, bytes, got.Files, got.Bytes)
	}
}

// The depth is limited, because each folder on the path takes a handle.
func TestDeepFolders(t *testing.T) {
	root := t.TempDir()
	deep := strings.Repeat("d/", 256)
	makeTree(t, root, map[string]int64{deep + "last.txt": 4, deep + "d/beyond.txt": 8})
	got := beamtest.Decode[disk.Report](t, run(t, root, `{}`, chooseList("largest")))
	if len(got.Items) != 1 || got.Bytes != 4 || got.Folders != 257 {
		t.Errorf("got %+v", got)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "nested too deeply") {
		t.Errorf("the warnings are %q", got.Warnings)
	}
}

// TestUnusualFiles has misleading names, a date that JSON can't represent, and a size
// larger than the disk.
func TestUnusualFiles(t *testing.T) {
	root := makeTree(t, t.TempDir(), map[string]int64{"two\nlines": 3, "a\u202egnp.exe": 2, "\xff\xfe.bin": 1, "sparse": 1 << 40})
	far := time.Date(40_000, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(root, "two\nlines"), far, far); err != nil {
		t.Logf("the file system doesn't support the date: %v", err)
	}
	p := run(t, root, `{}`, chooseList("largest"))
	got := beamtest.Decode[disk.Report](t, p)
	if got.Files != 4 || got.Bytes != 1<<40+6 || len(got.Items) != 4 {
		t.Errorf("got %+v", got)
	}
	var names []string
	for _, i := range got.Items {
		names = append(names, i.Name)
	}
	shown := strings.Join(names, " ")
	for _, want := range []string{`"two\nlines"`, `"a\u202egnp.exe"`, `"\xff\xfe.bin"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the list has %s, want %s", shown, want)
		}
	}
}
