package runlog_test

import (
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

// visitedKind remembers which method was called.
type visitedKind string

func (k *visitedKind) Status(*generators.StatusEvent)     { *k = "status" }
func (k *visitedKind) Progress(*generators.ProgressEvent) { *k = "progress" }
func (k *visitedKind) Log(*generators.LogEvent)           { *k = "log" }
func (k *visitedKind) Chunk(*generators.ChunkEvent)       { *k = "chunk" }
func (k *visitedKind) Toast(*generators.ToastEvent)       { *k = "toast" }
func (k *visitedKind) Artifact(*generators.Artifact)      { *k = "artifact" }
func (k *visitedKind) Unknown(*driver.UnknownEvent)       { *k = "unknown" }

// TestVisitEvent checks that every kind of event has a method of its own.
func TestVisitEvent(t *testing.T) {
	for _, kind := range append(driver.Kinds(), "unknown") {
		e, err := driver.Decode(kind, json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		want := kind
		if kind == "stepped" || kind == "result" { // which are entries of other kinds
			want = ""
		}
		var got visitedKind
		if runlog.VisitEvent(e, &got); string(got) != want {
			t.Errorf("an event of the kind %s is visited as %q", kind, got)
		}
	}
}
