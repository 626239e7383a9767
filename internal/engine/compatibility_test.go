package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// newVersionedPhoton returns a photon that counts how often its code runs.
func newVersionedPhoton(version string, began *atomic.Int64) *generators.Photon {
	return newPhoton("versioned", func(_ context.Context, yield generators.Yield) (string, error) {
		began.Add(1)
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true, Version: version})
}

// A run continues only with the photon version that it started with. With another version, it is
// parked when somebody looks, before any code runs and before anybody answers, and says both
// versions.
func TestChangedPhotonVersionParksRun(t *testing.T) {
	tests := []struct {
		then, now  string
		wantDetail string // part of it; empty if the run continues
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
			if tt.wantDetail == "" {
				if f := again.answerUntilEnd(id); f.Status != runlog.Completed {
					t.Errorf("finished = %+v", f)
				}
				return
			}
			info, err := again.Info(me, id)
			if err != nil || info.State != engine.Parked || info.Parked.Reason != runlog.ParkedVersion || !strings.Contains(info.Parked.Detail, tt.wantDetail) {
				t.Fatalf("the run is %+v, %v; want %q", info, err, tt.wantDetail)
			}
			if len(info.Asks) != 1 || !info.Asks[0].Excluded || !strings.Contains(info.Asks[0].ExcludedReason(), tt.wantDetail) || now.Load() > 0 {
				t.Errorf("the questions are %+v, and the code ran %d times, want one that nobody can answer", info.Asks, now.Load())
			}
			answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
			if err := again.Answer(t.Context(), me, info.Asks[0].ID, answer, "test"); !errors.Is(err, engine.ErrParked) {
				t.Errorf("an answer: %v", err)
			}
			again.closeNow()

			o.Photons = testOptions(t, newVersionedPhoton(tt.then, &then)).Photons
			if f := openTestEngine(t, o).answerUntilEnd(id); f.Status != runlog.Completed {
				t.Errorf("with the old version put back: finished = %+v", f)
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

func TestChangedInputSchemaParksRun(t *testing.T) {
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
	o.Program = func() string { return "another program" }
	o.Photons = testOptions(t, generators.New("table", func(_ context.Context, _ after, yield generators.Yield) (string, error) {
		ran.Store(true)
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true})).Photons
	again := openTestEngine(t, o)
	if p := again.waitForParked(id); p.Reason != runlog.ParkedInput || !strings.Contains(p.Detail, "/guests") || ran.Load() {
		t.Errorf("parked = %+v, and the code ran: %v", p, ran.Load())
	}
}

// A program that lacks a photon parks its runs when somebody looks. A program that has the photon
// then continues them.
func TestDurableRunWaitsForItsPhoton(t *testing.T) {
	var began atomic.Int64
	o := testOptions(t, newVersionedPhoton("1", &began))
	has := o.Photons
	b := openTestEngine(t, o)
	id := b.startRun("versioned", "")
	askID, _ := b.waitForAsk(id, 0)
	b.closeNow()

	o.Photons = testOptions(t, echo).Photons
	without := openTestEngine(t, o)
	if inbox := without.Inbox(me, 0); len(inbox) != 1 || inbox[0].Parked == nil || inbox[0].Parked.Reason != runlog.ParkedMissing {
		t.Errorf("the inbox is %+v", inbox)
	}
	answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
	if err := without.Answer(t.Context(), me, askID, answer, "test"); !errors.Is(err, engine.ErrParked) {
		t.Errorf("an answer: %v", err)
	}
	without.closeNow()

	o.Photons = has
	if f := openTestEngine(t, o).answerUntilEnd(id); f.Status != runlog.Completed {
		t.Errorf("finished = %+v", f)
	}
}

// A question that expires while its run is parked is withdrawn. The run stays parked, and goes on
// without an answer when the old version is put back.
func TestQuestionOfParkedRunExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := func(key string) *generators.Photon {
			return newPhoton("patient", func(_ context.Context, yield generators.Yield) (string, error) {
				name, err := ask.Text(yield, key, "Name?", ask.Timeout(time.Hour))
				if errors.Is(err, ask.ErrTimeout) {
					return "nobody", nil
				}
				return name, err
			}, &generators.Options{Durable: true})
		}
		o := testOptions(t, asking("name"))
		b := openTestEngine(t, o)
		id := b.startRun("patient", "")
		b.waitForAsk(id, 0)
		b.closeNow()

		before := o
		o.Program, o.Photons = func() string { return "another program" }, testOptions(t, asking("other")).Photons
		wrong := openTestEngine(t, o)
		if info, err := wrong.Info(me, id); err != nil || info.State != engine.Parked {
			t.Fatalf("the run is %+v, %v", info, err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if info, err := wrong.Info(me, id); err != nil || info.State != engine.Parked || len(info.Asks) > 0 || len(wrong.Inbox(me, 0)) > 0 {
			t.Errorf("afterwards, it is %+v, %v", info, err)
		}
		wrong.closeNow()

		if f := openTestEngine(t, before).waitForEnd(id); f.Status != runlog.Completed || string(f.Result) != `"nobody"` {
			t.Errorf("with the old version put back: finished = %+v", f)
		}
	})
}

// Lists don't wait for the checks of runs whose code outside of steps is slow. Who opens such a run
// waits a second at most.
func TestSlowCheckDelaysNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := false
		photon := newPhoton("slow", func(_ context.Context, yield generators.Yield) (string, error) {
			if slow {
				time.Sleep(10 * time.Second)
			}
			return ask.Text(yield, "name", "Name?")
		}, &generators.Options{Durable: true})
		o := testOptions(t, photon)
		b := openTestEngine(t, o)
		var ids []string
		for range 20 {
			ids = append(ids, b.startRun("slow", ""))
		}
		synctest.Wait()
		b.closeNow()
		slow, o.Program = true, func() string { return "another program" }
		again := openTestEngine(t, o)
		for what, look := range map[string]func() int{
			"the inbox": func() int { return len(again.Inbox(me, 0)) },
			"the runs":  func() int { return len(again.Runs(me, 0, nil)) },
			"a run": func() int {
				if info, err := again.Info(me, ids[0]); err != nil || info.State != engine.Waiting {
					t.Errorf("the run is %+v, %v", info, err)
				}
				return len(ids)
			},
		} {
			began := time.Now()
			if n := look(); n != len(ids) || time.Since(began) > time.Second {
				t.Errorf("%s has %d runs after %s", what, n, time.Since(began))
			}
		}
		time.Sleep(time.Minute) // until the code returns
	})
}
