package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// An entry of a kind that this version doesn't know, from a log that a newer one
// has written, stays in the log as it is, readers receive it, and the run continues.
func TestUnknownKindIsKept(t *testing.T) {
	const data = `{"to":"the moon"}`
	log := []runlog.Entry{
		runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "greeter", Durable: true, Owner: me.ID, Args: json.RawMessage("{}")}),
		runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1}),
		{Kind: "teleported", Data: json.RawMessage(data)},
		runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "name", Question: &askdata.Question{Kind: askdata.KindText}}),
	}
	greeter := newPhoton("greeter", func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "What is your name?")
	}, &generators.Options{Durable: true})
	for _, withAsk := range []bool{false, true} {
		o := testOptions(t, greeter)
		o.Log = logWithPrefix(t, log, len(log))
		if !withAsk {
			o.Log = logWithPrefix(t, log, len(log)-1)
		}
		b := openTestEngine(t, o)
		if f := b.answerUntilEnd(crashedRunID); f.Status != runlog.Completed {
			t.Errorf("the run with an unknown entry ended with %+v", f)
		}
		if e := b.entries(crashedRunID)[2]; e.Kind != "teleported" || string(e.Data) != data {
			t.Errorf("the unknown entry was read as %s %s, want it unchanged", e.Kind, e.Data)
		}
	}
}
