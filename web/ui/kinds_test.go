package ui

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/timeline"
)

func TestEveryAskKindHasAView(t *testing.T) {
	for _, kind := range ask.Kinds() {
		if v, ok := questionViews[kind]; !ok || v.body == nil || v.submit == nil {
			t.Errorf("questionViews has no complete entry for the ask kind %q", kind)
		}
	}
}

func TestEveryItemKindHasAView(t *testing.T) {
	for _, kind := range timeline.Kinds() {
		if rowViews[kind] == nil {
			t.Errorf("rowViews has no entry for the item kind %q", kind)
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
	w.ask(&ask.Question{Kind: "telepathy", Message: "Think of a number"})
	form := renderHTML(t, AskForm(w.openAsk(), nil, nil))
	for _, want := range []string{"telepathy", "Think of a number", "Submit"} {
		if !strings.Contains(form, want) {
			t.Errorf("the form doesn't contain %q:\n%s", want, form)
		}
	}
}
