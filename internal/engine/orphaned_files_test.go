package engine_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Files of runs that don't exist, because a process was killed before it deleted them, or before
// it recorded the start, are deleted at the next start. Others stay.
func TestOrphanedFilesAreDeleted(t *testing.T) {
	artist := newPhoton("artist", func(_ context.Context, yield generators.Yield) (any, error) {
		yield(generators.File("f", "application/octet-stream", bytes.Repeat([]byte{1}, 600<<10)))
		return nil, nil
	}, nil)
	o := testOptions(t, artist)
	b := openTestEngine(t, o)
	id := b.startRun("artist", "")
	if f := b.waitForEnd(id); f.Status != runlog.Completed {
		t.Fatalf("the run: %+v", f)
	}
	b.closeNow()
	if _, _, err := o.Blobs.Put(t.Context(), strings.Repeat("ab", 16), strings.NewReader("of nothing")); err != nil {
		t.Fatal(err)
	}
	b = openTestEngine(t, o)
	var left []string
	for run, err := range o.Blobs.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, run)
	}
	if !slices.Equal(left, []string{id}) {
		t.Errorf("there are files of %v, and only the run %s", left, id)
	}
	if used := b.Budgets()[2].Usage().Used; used != 600<<10 {
		t.Errorf("%d bytes are in use", used)
	}
}
