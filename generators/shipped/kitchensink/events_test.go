package kitchensink_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"slices"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/kitchensink"
	"github.com/photon-beam/beam/internal/driver"
)

func TestEventsHaveEveryKind(t *testing.T) {
	missing := driver.Kinds()
	for _, e := range append(kitchensink.Events(), &generators.Stepped{}, &generators.Result{}) { // the engine records the last two
		kind, _, err := driver.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		missing = slices.DeleteFunc(missing, func(k string) bool { return k == kind })
	}
	if len(missing) > 0 {
		t.Errorf("Events has none of the kinds %q", missing)
	}
}

// TestEveryKindOfEvent checks that the photon yields every level and media type.
func TestEveryKindOfEvent(t *testing.T) {
	seen := map[string]int{}
	for _, e := range run(t, "confirm", beamtest.Script{"confirm": beamtest.Decline()}).Events {
		seen[describe(e)]++
	}
	want := []string{
		"status info", "status success", "status warning", "status error", "toast",
		"busy", "progress", "chunk", "plain log",
		"log debug", "log info", "log notice", "log warning", "log error", "log critical", "log alert", "log emergency",
		"artifact " + generators.MarkdownType, "artifact text/x-go", "artifact " + generators.JSONType,
		"artifact " + generators.TableType, "artifact image/png", "artifact text/plain", "chart bars", "chart lines",
	}
	for _, w := range want {
		if seen[w] == 0 {
			t.Errorf("there is no event %q, only %v", w, seen)
		}
	}
	if seen["chunk"] < 3 {
		t.Errorf("the text has %d chunks, want several", seen["chunk"])
	}
}

func describe(e generators.Event) string {
	switch e := e.(type) {
	case *generators.StatusEvent:
		return "status " + string(e.Level)
	case *generators.ToastEvent:
		return "toast"
	case *generators.ProgressEvent:
		if e.Total == 0 {
			return "busy"
		}
		return "progress"
	case *generators.ChunkEvent:
		return "chunk"
	case *generators.LogEvent:
		if e.Logger == "" {
			return "plain log"
		}
		return "log " + string(e.Level)
	case *generators.Artifact:
		if e.MediaType == generators.ChartType {
			var chart generators.Chart
			_ = json.Unmarshal(e.Body, &chart) // an invalid chart has no kind, so that the test fails
			return "chart " + string(chart.Kind)
		}
		return "artifact " + e.MediaType
	}
	return "something else"
}

func TestPictureIsValid(t *testing.T) {
	for _, e := range run(t, "confirm", beamtest.Script{"confirm": beamtest.Decline()}).Events {
		if a, ok := e.(*generators.Artifact); ok && a.MediaType == "image/png" {
			img, err := png.Decode(bytes.NewReader(a.Body))
			if err != nil {
				t.Fatal(err)
			}
			if got := img.Bounds().Size().String(); got != "(96,64)" {
				t.Errorf("the size of the picture is %s", got)
			}
		}
	}
}
