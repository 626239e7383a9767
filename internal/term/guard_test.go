package term

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/term/render"
)

// A question takes no keys for a time if one of them could do harm, once for questions that
// are answered in a row.
func TestGuard(t *testing.T) {
	fields := askdata.Fields{{Name: "x", Type: "boolean"}}
	confirm := &Question{Question: &askdata.Question{Kind: askdata.KindConfirm, Fields: fields}}
	destructive := &Question{Question: &askdata.Question{Kind: askdata.KindConfirm, Fields: fields, Destructive: true}}
	for name, q := range map[string]*Question{
		"destructive": destructive,
		"consent":     {Question: &askdata.Question{Kind: askdata.KindForm}},
		"address":     {Question: &askdata.Question{Kind: askdata.KindURL}},
		"approval":    {Question: &askdata.Question{Kind: askdata.KindSample, Fields: fields}, Models: []sampling.ModelDescription{{Name: "m"}}},
	} {
		if got := new(guard).wait(q); got != guardTime {
			t.Errorf("%s: it waits %v", name, got)
		}
	}
	for name, q := range map[string]*Question{"plain confirmation": confirm, "file": {Question: &askdata.Question{Kind: askdata.KindFile}}} {
		if got := new(guard).wait(q); got != 0 {
			t.Errorf("%s: it waits %v", name, got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g := guard{answered: time.Now()}
		time.Sleep(rowTime / 2)
		if got := g.wait(destructive); got != 0 {
			t.Errorf("in a row, it waits %v", got)
		}
		time.Sleep(rowTime)
		if got := g.wait(destructive); got != guardTime {
			t.Errorf("after a pause, it waits %v", got)
		}
	})
}

// A message of several lines can't look like what Beam says below it.
func TestMessagesDontLookLikeNotes(t *testing.T) {
	q := &Question{Question: &askdata.Question{Message: "Deploy?\n  This can't be undone."}, Lost: "This question is lost if Beam restarts."}
	if got, want := q.heading(render.Styles(false), 80), "? Deploy?\n│   This can't be undone.\n  This question is lost if Beam restarts.\n"; got != want {
		t.Errorf("the heading is %q, want %q", got, want)
	}
}
