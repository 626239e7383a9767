package engine_test

import (
	"context"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// TestLostAsksSaySo checks that a question says whether a restart loses it, as it is recorded
// and as it is listed.
func TestLostAsksSaySo(t *testing.T) {
	for name, test := range map[string]struct{ durable, ephemeral, want bool }{
		"durable": {true, false, false}, "not durable": {false, false, true}, "in memory": {true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhoton("asker", func(_ context.Context, yield generators.Yield) (any, error) { return ask.Text(yield, "name", "Who?") }, &generators.Options{Durable: test.durable})
			o := testOptions(t, p)
			o.Ephemeral = test.ephemeral
			b := openTestEngine(t, o)
			id := b.startRun("asker", "")
			b.waitForAsk(id, 0)
			recorded, err := runlog.Decode[runlog.Asked](b.waitForEntry(id, 0, runlog.KindAsked))
			if err != nil {
				t.Fatal(err)
			}
			open := b.Inbox(me, 0)
			if len(open) != 1 || open[0].Lost != test.want || recorded.Lost != test.want || (open[0].LostNote() == "") == test.want {
				t.Errorf("the question is listed as %+v, and recorded as %+v; want lost = %t", open, recorded, test.want)
			}
		})
	}
}
