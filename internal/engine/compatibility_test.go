package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// newVersionedPhoton returns a photon that counts how often its code runs.
func newVersionedPhoton(version string, began *atomic.Int64) *generators.Photon {
	return newPhoton("versioned", func(_ context.Context, yield generators.Yield) (string, error) {
		began.Add(1)
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true, Version: version})
}

// A run continues only with the photon version that it started with. With another
// version, it fails at once, before any code runs and before anybody answers, and the
// error names both versions.
func TestChangedPhotonVersionFailsRun(t *testing.T) {
	tests := []struct {
		then, now string
		wantError string // part of the error; empty if the run continues
	}{
		{"1", "1", ""},
		{"", "", ""},
		{"", "2", ""}, // as in logs from before versions were recorded
		{"1", "2", `it was version "1" then, and is version "2" now`},
		{"1", "", `it was version "1" then, and is an unnamed version now`},
	}
	for _, tt := range tests {
		t.Run(tt.then+" to "+tt.now, func(t *testing.T) {
			var then, now atomic.Int64
			o := testOptions(t, newVersionedPhoton(tt.then, &then))
			b := openTestEngine(t, o)
			id := b.startRun("versioned", "")
			b.waitForAsk(id, 0)
			b.closeNow()

			o.Photons = testOptions(t, newVersionedPhoton(tt.now, &now)).Photons
			again := openTestEngine(t, o)
			if tt.wantError == "" {
				if f := again.answerUntilEnd(id); f.Status != runlog.Completed {
					t.Errorf("finished = %+v", f)
				}
				return
			}
			if f := again.waitForEnd(id); f.Status != runlog.Failed || !strings.Contains(f.Error, tt.wantError) {
				t.Errorf("finished = %+v, want %q", f, tt.wantError)
			}
			if n := again.CountOpenAsks(me); n > 0 || now.Load() > 0 {
				t.Errorf("%d questions are open, and the code ran %d times, want none", n, now.Load())
			}
			if got := kindsOf(again.entries(id)); !slices.Contains(got, runlog.KindWithdrawn) {
				t.Errorf("log = %v", got)
			}
		})
	}
}

// A log that was written before versions were recorded has no version.
func TestPhotonVersionIsRecorded(t *testing.T) {
	for version, want := range map[string]bool{"": false, "7": true} {
		b := newTestEngine(t, newVersionedPhoton(version, new(atomic.Int64)))
		started := b.entries(b.startRun("versioned", ""))[0]
		if got := strings.Contains(string(started.Data), `"version":"7"`); got != want {
			t.Errorf("version %q: started = %s", version, started.Data)
		}
	}
}

func TestChangedInputSchemaFailsRun(t *testing.T) {
	type before struct {
		Guests string `json:"guests"`
	}
	type after struct {
		Guests int `json:"guests"`
	}
	var ran atomic.Bool
	o := testOptions(t, generators.New("table", func(_ context.Context, _ before, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true}))
	b := openTestEngine(t, o)
	id := b.startRun("table", `{"guests":"four"}`)
	b.waitForAsk(id, 0)
	b.closeNow()
	o.Photons = testOptions(t, generators.New("table", func(_ context.Context, _ after, yield generators.Yield) (string, error) {
		ran.Store(true)
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true})).Photons
	again := openTestEngine(t, o)
	askID, _ := again.waitForAsk(id, 0)
	answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
	if err := again.Answer(t.Context(), me, askID, answer, "test"); err != nil {
		t.Fatal(err)
	}
	if f := again.waitForEnd(id); f.Status != runlog.Failed || !strings.Contains(f.Error, "/guests") || ran.Load() {
		t.Errorf("finished = %+v, and the code ran: %v", f, ran.Load())
	}
}

// A program that lacks a photon leaves its runs alone, but accepts answers to
// them. A program that has the photon then continues them.
func TestDurableRunWaitsForItsPhoton(t *testing.T) {
	var began atomic.Int64
	for _, answered := range []bool{false, true} {
		o := testOptions(t, newVersionedPhoton("1", &began))
		has := o.Photons
		b := openTestEngine(t, o)
		id := b.startRun("versioned", "")
		askID, _ := b.waitForAsk(id, 0)
		b.closeNow()

		o.Photons = testOptions(t, echo).Photons
		without := openTestEngine(t, o)
		if answered {
			without.acceptAsk(askID, `{"name":"Ada"}`)
		}
		if info, err := without.Info(me, id); err != nil || info.State.Ended() {
			t.Fatalf("without its photon the run is %s: %v", info.State, err)
		}
		without.closeNow()

		o.Photons = has
		if f := openTestEngine(t, o).answerUntilEnd(id); f.Status != runlog.Completed {
			t.Errorf("answered before: %t; finished = %+v", answered, f)
		}
	}
}
