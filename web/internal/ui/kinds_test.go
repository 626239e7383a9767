package ui

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators/shipped/kitchensink"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

func TestEveryAskKindHasAView(t *testing.T) {
	for _, kind := range askdata.Kinds() {
		if v, ok := questionViews[kind]; !ok || v.body == nil || v.submit == nil {
			t.Errorf("questionViews has no complete entry for the ask kind %q", kind)
		}
	}
}

func TestEveryItemKindHasAView(t *testing.T) {
	w := newLogWriter("{}")
	w.events(kitchensink.Events()...)
	w.ask(questions()["text"])
	w.add(runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: w.ask(questions()["sample"]), Call: 1, Approved: &runlog.Approval{}}))
	w.add(runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "reserve"}))
	w.add(runlog.Entry{Kind: "hologram", Data: []byte("{}")})
	w.finish(runlog.Completed, "{}", "")
	seen := map[timeline.Kind]bool{}
	for _, i := range w.run.Items {
		seen[i.Kind] = true
		if rowViews[i.Kind] == nil {
			t.Errorf("rowViews has no entry for the item kind %q", i.Kind)
		}
	}
	for kind := range rowViews {
		if !seen[kind] {
			t.Errorf("no entry of this test's log becomes an item of the kind %q", kind)
		}
	}
}

// The golden files and the test of hostile text cover every kind.
func TestFixturesHaveEveryKind(t *testing.T) {
	asked := map[askdata.Kind]bool{}
	for _, q := range questions() {
		asked[q.Kind] = true
	}
	for _, kind := range askdata.Kinds() {
		if !asked[kind] {
			t.Errorf("questions has no question of the kind %q", kind)
		}
	}
	hostile := map[string]bool{"stepped": true, "result": true} // hostileRun adds them as entries
	for _, e := range hostileEvents("pwn") {
		kind, _, err := driver.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		hostile[kind] = true
	}
	for _, kind := range driver.Kinds() {
		if !hostile[kind] {
			t.Errorf("hostileEvents has no event of the kind %q", kind)
		}
	}
}

func TestUnknownKindsAreShownAsJSON(t *testing.T) {
	w := newLogWriter("{}")
	w.add(runlog.Entry{Kind: "hologram", Data: []byte(`{"depth":3}`)})
	row := renderHTML(t, Row(w.run, w.run.Items[len(w.run.Items)-1]))
	for _, want := range []string{"hologram", "depth", ">3<"} {
		if !strings.Contains(row, want) {
			t.Errorf("the row doesn't contain %q:\n%s", want, row)
		}
	}
	w.ask(&askdata.Question{Kind: "telepathy", Message: "Think of a number"})
	form := renderHTML(t, AskForm(w.openAsk(), nil, nil))
	for _, want := range []string{"telepathy", "Think of a number", "Submit"} {
		if !strings.Contains(form, want) {
			t.Errorf("the form doesn't contain %q:\n%s", want, form)
		}
	}
}
