package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
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

// A brokenLog is a log from which runs can't be read for a while. Only answers, which
// need just one entry, are accepted in the meantime.
type brokenLog struct {
	runlog.Log
	brokenUntil atomic.Pointer[time.Time]
	reads       atomic.Int64
}

var errBroken = errors.New("the log can't be reached")

func (l *brokenLog) breakFor(d time.Duration) {
	until := time.Now().Add(d)
	l.brokenUntil.Store(&until)
}

func (l *brokenLog) isBroken() bool {
	until := l.brokenUntil.Load()
	return until != nil && time.Now().Before(*until)
}

func (l *brokenLog) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		if l.isBroken() && after == 0 {
			l.reads.Add(1)
			yield(nil, errBroken)
			return
		}
		l.Log.Read(ctx, run, after)(yield)
	}
}

func (l *brokenLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if l.isBroken() && entries[0].Kind != runlog.KindAnswered {
		return 0, errBroken
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// logCounter counts log records.
type logCounter struct {
	slog.Handler
	count atomic.Int64
}

func (l *logCounter) Enabled(context.Context, slog.Level) bool  { return true }
func (l *logCounter) Handle(context.Context, slog.Record) error { l.count.Add(1); return nil }

func TestTemporarilyUnreadableLogLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true))
		l, logged := &brokenLog{Log: o.Log}, &logCounter{}
		o.Log, o.Logger = l, slog.New(logged)
		b := openTestEngine(t, o)
		id := b.startRun("patient", "")
		first, seq := b.waitForAsk(id, 0)
		time.Sleep(time.Hour)
		l.breakFor(3 * time.Hour)
		b.acceptAsk(first, `{"first":"one"}`)
		time.Sleep(3 * time.Hour)
		if tries := l.reads.Load(); tries < 100 || tries > 250 {
			t.Errorf("there were %d attempts within three hours, want about one per minute", tries)
		}
		if n := logged.count.Load(); n == 0 || n > 10 {
			t.Errorf("there are %d log messages, want a few", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(b.Inbox(me, 0)); n != 1 {
			t.Fatalf("%d questions are open after %v", n, kindsOf(b.entries(id)))
		}
		second, _ := b.waitForAsk(id, seq)
		b.acceptAsk(second, `{"second":"two"}`)
		if f := b.waitForEnd(id); string(f.Result) != `"one two"` || p.steps.Load() != 1 {
			t.Errorf("finished = %+v", f)
		}
	})
}

// Close doesn't wait for a run that can't be resumed, whether it was answered before or
// during Close.
func TestCloseWhileLogIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		slow := newPhoton("slow", func(ctx context.Context, _ generators.Yield) (any, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}, nil)
		o := testOptions(t, p.newPhoton(true), slow)
		l := &brokenLog{Log: o.Log}
		o.Log = l
		b := openTestEngine(t, o)
		var asked []string
		for range 2 {
			askID, _ := b.waitForAsk(b.startRun("patient", ""), 0)
			asked = append(asked, askID)
		}
		time.Sleep(time.Hour)
		working := b.startRun("slow", "")
		l.breakFor(30 * time.Second)
		b.acceptAsk(asked[0], `{"first":"one"}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		time.AfterFunc(5*time.Second, func() { b.acceptAsk(asked[1], `{"first":"one"}`) })
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("Close took %v, want the minute of the run that works", took)
		}
		if f := b.waitForEnd(working); f.Status != runlog.Completed {
			t.Errorf("finished = %+v", f)
		}
	})
}

// An unclaimableLog is a log that rejects claims for a while.
type unclaimableLog struct {
	runlog.Log
	refusals int
}

func (u *unclaimableLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if u.refusals > 0 && entries[0].Kind == runlog.KindClaimed {
		u.refusals--
		return 0, errBroken
	}
	return u.Log.Append(ctx, run, after, entries...)
}

func TestRunIsClaimedLaterAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, greeter)
		l := logWithPrefix(t, []runlog.Entry{
			runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "greeter", Durable: true, Owner: me.ID, Args: json.RawMessage("{}")}),
			runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1}),
		}, 2)
		o.Log = &unclaimableLog{l, 3}
		b := openTestEngine(t, o)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(b.Inbox(me, 0)); n != 1 {
			t.Errorf("%d questions are open after %v", n, kindsOf(b.entries(crashedRunID)))
		}
	})
}

// A run that can't be read isn't listed, not even partially.
func TestUnreadableRunIsSkippedOnRecovery(t *testing.T) {
	o := testOptions(t, greeter)
	o.Log = logWithPrefix(t, []runlog.Entry{
		runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "greeter", Durable: true, Owner: me.ID, Args: json.RawMessage("{}")}),
		runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "name", Question: &askdata.Question{Kind: askdata.KindText}}),
		{Kind: runlog.KindAnswered, Data: json.RawMessage(`"not one"`)},
	}, 3)
	b := openTestEngine(t, o)
	if runs, open := b.Runs(me, 0, nil), b.Inbox(me, 0); len(runs)+len(open) != 0 {
		t.Errorf("listed: %+v, %+v", runs, open)
	}
}

func TestExpiryIsRecordedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true, ask.Timeout(2*time.Hour)))
		l := &brokenLog{Log: o.Log}
		o.Log = l
		b := openTestEngine(t, o)
		id := b.startRun("patient", "")
		b.waitForAsk(id, 0)
		time.Sleep(time.Hour)
		l.breakFor(2 * time.Hour)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if f := b.waitForEnd(id); f.Reason() != runlog.ReasonExpired {
			t.Errorf("finished = %+v", f)
		}
	})
}

// Batched events aren't lost if an answer arrives while the log is unavailable.
func TestBatchedEventsSurviveFailedAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &brokenLog{}
		b, id, askID := waitWithEvent(t, l, &l.Log)
		l.breakFor(time.Millisecond)
		if err := settleAskBy["answered"](b, askID); !errors.Is(err, errBroken) {
			t.Errorf("answering while the log is unavailable: %v", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := b.countEntries(id, "status"); n != 2 {
			t.Errorf("%d of 2 events are in the log", n)
		}
		b.acceptAsk(askID, `{"name":"Ada"}`)
		b.waitForEnd(id)
	})
}

func TestLostLogEndsItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 300<<10)
		p := newPhoton("talker", func(_ context.Context, yield generators.Yield) (string, error) {
			if _, err := generators.Step(yield, "big", func(context.Context) (string, error) { return long, nil }); err != nil {
				return "", err
			}
			return ask.Text(yield, "name", "Name?")
		}, &generators.Options{Durable: true})
		o := testOptions(t, p)
		b := openTestEngine(t, o)
		id := b.startRun("talker", "")
		askID, _ := b.waitForAsk(id, 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := b.blobs.DeleteRun(id); err != nil {
			t.Fatal(err)
		}
		b.acceptAsk(askID, `{"name":"Ada"}`)
		synctest.Wait()
		if f, err := runlog.Decode[runlog.Finished](b.entries(id)[len(b.entries(id))-1]); err != nil || f.Status != runlog.Interrupted {
			t.Errorf("finished = %+v, %v", f, err)
		}
	})
}

// A refusingLog is a log that rejects entries with a permanent error while it is set
// to.
type refusingLog struct {
	runlog.Log
	err atomic.Pointer[error]
}

func (l *refusingLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if err := l.err.Load(); err != nil {
		return 0, *err
	}
	return l.Log.Append(ctx, run, after, entries...)
}

func (l *refusingLog) refuseAppends(err error) { l.err.Store(&err) }

// If the end of an interrupted run can't be recorded after a restart, it is recorded later,
// even if the deadline of its question has passed by then.
func TestInterruptionIsRecordedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, greeter)
		l := &refusingLog{Log: logWithPrefix(t, []runlog.Entry{
			runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "greeter", Owner: me.ID, Args: json.RawMessage("{}")}),
			runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "name", Question: &askdata.Question{Kind: askdata.KindText}, Deadline: time.Now().Add(time.Hour)}),
		}, 2)}
		l.refuseAppends(errBroken)
		o.Log = l
		b := openTestEngine(t, o)
		if runs := b.Runs(me, 0, nil); len(runs) != 1 || runs[0].State != engine.Waiting {
			t.Fatalf("listed: %+v", runs)
		}
		l.err.Store(nil)
		time.Sleep(2 * time.Hour)
		if f := b.waitForEnd(crashedRunID); f.Status != runlog.Interrupted {
			t.Errorf("it ended as %+v, want an interruption", f)
		}
	})
}

// If recording the end of a run fails permanently, the run can be stopped again later.
func TestStopCanBeRetriedAfterPermanentFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true))
		l := &refusingLog{Log: o.Log}
		o.Log = l
		b := openTestEngine(t, o)
		id := b.startRun("patient", "")
		b.waitForAsk(id, 0)
		for range 2 {
			l.refuseAppends(runlog.ErrUnavailable)
			if err := b.Cancel(t.Context(), me, id, "browser"); !errors.Is(err, runlog.ErrUnavailable) {
				t.Errorf("stopping the run while the log rejects entries: %v", err)
			}
			l.refuseAppends(errBroken)
			time.Sleep(time.Minute)
		}
		l.refuseAppends(runlog.ErrUnavailable)
		if err := b.Cancel(t.Context(), me, id, "browser"); !errors.Is(err, runlog.ErrUnavailable) {
			t.Errorf("stopping the run while the log rejects entries: %v", err)
		}
		time.Sleep(time.Minute)
		l.err.Store(nil)
		time.Sleep(time.Minute)
		if info, err := b.Info(me, id); err != nil || info.State != engine.Stopped {
			t.Errorf("the run is %s, %v", info.State, err)
		}
	})
}
