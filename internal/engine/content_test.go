package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/toolresult"
)

// newContentPhoton returns a photon that records a result with a text of a size, in
// kilobytes. It fails if the size is odd.
func newContentPhoton(record func(context.Context, json.RawMessage)) *generators.Photon {
	input, err := generators.ParseSchema(json.RawMessage(`{"type":"object"}`))
	if err != nil {
		panic(err)
	}
	return generators.FromSchema("foreign", input, nil, func(ctx context.Context, args json.RawMessage, yield generators.Yield) (json.RawMessage, error) {
		var in struct{ KB int }
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		record(ctx, fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", in.KB<<10)))
		if in.KB%2 == 1 {
			return nil, errors.New("odd")
		}
		return json.RawMessage(`"even"`), nil
	}, &generators.Options{Definition: json.RawMessage(`{}`)})
}

func (b *testEngine) content(id string) json.RawMessage {
	b.t.Helper()
	end := b.waitForEnd(id)
	content, err := b.Content(me, id, &end)
	if err != nil {
		b.t.Fatal(err)
	}
	return content
}

// A recorded result is there for completed and failed runs, however large, also after a
// restart, and its space counts.
func TestContentOutlivesRestart(t *testing.T) {
	o := testOptions(t, newContentPhoton(toolresult.Record))
	b := openTestEngine(t, o)
	ids := map[int]string{}
	for _, kb := range []int{0, 1, 600, 601} {
		ids[kb] = b.startRun("foreign", fmt.Sprintf(`{"KB":%d}`, kb))
		b.waitForEnd(ids[kb])
	}
	b.closeNow()
	b = openTestEngine(t, o)
	for kb, id := range ids {
		if got, want := len(b.content(id)), kb<<10+len(`{"text":""}`); got != want {
			t.Errorf("the content of %d KB has %d bytes, want %d", kb, got, want)
		}
		status := runlog.Completed
		if kb%2 == 1 {
			status = runlog.Failed
		}
		if end := b.waitForEnd(id); end.Status != status {
			t.Errorf("the run with %d KB is %s", kb, end.Status)
		}
		if _, err := b.Content(generators.Caller{ID: "session:you"}, id, &runlog.Finished{}); !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("another caller gets %v", err)
		}
	}
	zero := 0
	pruned, err := b.Prune(engine.PruneCriteria{Keep: &zero}, true)
	if err != nil || len(pruned) != 4 || pruned[0].Bytes+pruned[1].Bytes+pruned[2].Bytes+pruned[3].Bytes < 1200<<10 {
		t.Errorf("to prune: %+v, %v", pruned, err)
	}
}

// A result that must not be in the log is in memory for the client that waits for it.
func TestContentThatIsNotRecorded(t *testing.T) {
	o := testOptions(t, newContentPhoton(toolresult.RecordUnkept))
	b := openTestEngine(t, o)
	id := b.startRun("foreign", `{"KB":2}`)
	if got := len(b.content(id)); got < 2<<10 {
		t.Errorf("the content has %d bytes", got)
	}
	for _, e := range b.entries(id) {
		if strings.Contains(string(e.Data), "xxx") {
			t.Errorf("the log has the content: %s", e.Kind)
		}
	}
	if !testing.Short() { // which takes long under the race detector
		large := b.startRun("foreign", `{"KB":40000}`)
		b.content(large)
		b.content(b.startRun("foreign", `{"KB":40000}`))
		if got := b.content(large); got != nil {
			t.Errorf("80 MB are kept in memory")
		}
	}
	b.closeNow()
	if got := openTestEngine(t, o).content(id); got != nil {
		t.Errorf("after a restart the content is still there")
	}
}

// An unlisted photon runs like any other; its run can be discarded when it has ended.
func TestUnlistedPhoton(t *testing.T) {
	b := newTestEngine(t)
	p := newPhoton("unlisted", func(_ context.Context, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "ok", "Go on?")
	}, nil)
	info, err := b.Start(t.Context(), me, engine.StartRequest{Unlisted: p, Surface: "test"})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := b.waitForAsk(info.ID, 0)
	if err := b.Discard(me, info.ID); err != nil {
		t.Error(err)
	}
	b.acceptAsk(id, `{"ok":true}`)
	b.waitForEnd(info.ID)
	if err := b.Discard(generators.Caller{ID: "session:you"}, info.ID); err != nil || len(b.Runs(me, 0, nil)) != 1 {
		t.Errorf("another caller discards the run, or %v", err)
	}
	if err := b.Discard(me, info.ID); err != nil {
		t.Error(err)
	}
	if runs := b.Runs(me, 0, nil); len(runs) != 0 {
		t.Errorf("the run is still there: %+v", runs)
	}
	forbidden := newPhoton("unlisted", func(context.Context, generators.Yield) (int, error) { return 0, nil },
		&generators.Options{Allow: func(generators.Caller) error { return errors.New("no") }})
	if _, err := b.Start(t.Context(), me, engine.StartRequest{Unlisted: forbidden, Surface: "test"}); !errors.Is(err, engine.ErrPhotonNotFound) {
		t.Errorf("a photon that the caller may not use starts: %v", err)
	}
}
