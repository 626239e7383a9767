package timeline

import (
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

func TestEveryEventKindIsFolded(t *testing.T) {
	for _, kind := range driver.Kinds() {
		if k := runlog.Kind(kind); k.IsEvent() && events[k] == nil {
			t.Errorf("events has no entry for the event kind %q", kind)
		}
	}
}

func TestEveryAskKindHasAnAnswerView(t *testing.T) {
	for _, kind := range askdata.Kinds() {
		if answerViews[kind] == nil {
			t.Errorf("answerViews has no entry for the ask kind %q", kind)
		}
	}
}

func TestUnknownEntryIsShownAsJSON(t *testing.T) {
	w := newLogWriter()
	c := w.add(runlog.Entry{Kind: "hologram", Data: []byte(`{"a":1}`)})
	if !c.Added || c.Item.Kind != Unknown || c.Item.Text != "hologram" || string(c.Item.Data) != `{"a":1}` {
		t.Errorf("the entry became %+v, want an item of kind unknown with the entry's kind and data", c.Item)
	}
	if w.run.Events != 1 {
		t.Errorf("counted %d events, want 1", w.run.Events)
	}
}

func TestAnswerOfUnknownKindIsShownAsJSON(t *testing.T) {
	w := newLogWriter()
	seq := w.ask(&askdata.Question{Kind: "hologram"})
	c := w.answer(seq, askdata.Answer{Action: askdata.Accept, Content: []byte(`{"a":1}`)})
	if v := c.Item.Ask.Values; len(v) != 1 || v[0].Label != "hologram" || v[0].Text != `{"a":1}` {
		t.Errorf("the answer's values are %v", v)
	}
}
