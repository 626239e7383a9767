package ui

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
)

func TestSplitURL(t *testing.T) {
	for _, tt := range []struct {
		in, shown string
		link      bool
		warnings  int
	}{
		{"https://example.com/a?b#c", "https://|example.com|/a?b#c", true, 0},
		{"http://127.0.0.1:3008/", "http://|127.0.0.1:3008|/", true, 1},
		{"http://example.com", "http://|example.com|", true, 1},
		{"https://bank.example@evil.example/bank.example", "https://bank.example@|evil.example|/bank.example", true, 1},
		{"https://bank.example/@evil.example", "https://|bank.example|/@evil.example", true, 0},
		{"https://xn--e1awd7f.example/", "https://|xn--e1awd7f.example|/", true, 1},
		{"https://аpple.example/", "https://|%D0%B0pple.example|/", true, 1},
		{"https://example.com/\u202egro", "https://|example.com|/%E2%80%AEgro", true, 0},
		{"javascript:alert(1)", "javascript:alert(1)||", false, 0},
		{"//example.com", "//example.com||", false, 0},
		{"https://%zz", "https://%zz||", false, 0},
	} {
		a := splitURL(tt.in)
		if got := a.before + "|" + a.host + "|" + a.after; got != tt.shown || (a.link != "") != tt.link || len(a.warnings) != tt.warnings {
			t.Errorf("%s: %s, link %q, %q", tt.in, got, a.link, a.warnings)
		}
	}
}

func TestFormatTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 ms", 50 * time.Millisecond: "50 ms", 1500 * time.Millisecond: "1.5 s", 59990 * time.Millisecond: "0 min 59 s", 61 * time.Second: "1 min 1 s", 3 * time.Hour: "3 h 0 min", 80 * time.Hour: "3 days"} {
		if got := humanize.Duration(d); got != want {
			t.Errorf("took(%v) = %q, want %q", d, got, want)
		}
	}
	start := time.Unix(0, 0)
	for d, want := range map[time.Duration]string{-time.Second: "0.0", 340 * time.Millisecond: "0.3", 59940 * time.Millisecond: "59.9", 59960 * time.Millisecond: "0:59", 83 * time.Second: "1:23", 3723 * time.Second: "1:02:03"} {
		if got := formatOffset(start, start.Add(d)); got != want {
			t.Errorf("offset(%v) = %q, want %q", d, got, want)
		}
	}
}

func BenchmarkRunPage500(b *testing.B) {
	w := newLogWriter("{}")
	for i := range 500 {
		w.events(generators.Statusf("event %d of a run that goes on", i))
	}
	c := testChrome()
	var buf bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		buf.Reset()
		if err := RunPage(c, w.run).Render(b.Context(), &buf); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(buf.Len()))
}

func BenchmarkPatches(b *testing.B) {
	w := newLogWriter("{}")
	w.takeChanges()
	for i := range 100 {
		w.events(generators.Statusf("event %d of a run that goes on", i))
	}
	changes := w.takeChanges()
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range RunPatches(w.run, changes) {
			var buf bytes.Buffer
			if err := p.Component.Render(b.Context(), &buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkArtifacts(b *testing.B) {
	w := newLogWriter("{}")
	for _, a := range shownArtifacts() {
		w.events(a)
	}
	b.ReportAllocs()
	for b.Loop() {
		var buf bytes.Buffer
		if err := Rows(w.run).Render(b.Context(), &buf); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTimesAreShownInTheReadersZone checks that a time from a link is converted to the
// browser's time zone.
func TestTimesAreShownInTheReadersZone(t *testing.T) {
	fields := askdata.Fields{{Name: "at", Type: "string", Format: "date-time"}}
	page := func(at string) string {
		return renderHTML(t, PhotonDetails(Chrome{}, PhotonPage{Name: "p", Form: form.FromFields(fields, url.Values{"at": {at}})}))
	}
	if got := page("2026-05-17T18:30:00-04:00"); !strings.Contains(got, `value="2026-05-17T22:30"`) || !strings.Contains(got, "new Date(1779057000000)") {
		t.Errorf("a moment of a link: %s", got)
	}
	if got := page("2026-05-17T18:30"); !strings.Contains(got, `value="2026-05-17T18:30"`) || strings.Contains(got, "new Date(") {
		t.Errorf("what was typed is changed: %s", got)
	}
}
