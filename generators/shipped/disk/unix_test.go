//go:build unix

package disk_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/shipped/disk"
)

// Pipes are counted, but never opened, because that would wait for a writer.
func TestPipes(t *testing.T) {
	root := makeTree(t, t.TempDir(), map[string]int64{"a.txt": 5})
	must(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644))
	got := beamtest.Decode[disk.Report](t, run(t, root, `{}`, chooseList("largest")))
	if describeItems(got) != "a.txt=5" || len(got.Warnings) != 1 || got.Warnings[0] != "1 pipe, socket or device was skipped: pipe." {
		t.Errorf("got %+v", got)
	}
	if err := runError(t, root, `{"folder":"pipe"}`); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("got %v", err)
	}
}
