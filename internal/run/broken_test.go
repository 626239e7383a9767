package run_test

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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// broken is a log from which no run can be read back for a while, and that takes
// nothing then but answers, for which one entry is read.
type broken struct {
	log.Log
	until atomic.Pointer[time.Time]
	reads atomic.Int64
}

var errBroken = errors.New("the log can't be reached")

func (l *broken) forAWhile(d time.Duration) {
	until := time.Now().Add(d)
	l.until.Store(&until)
}

func (l *broken) down() bool {
	until := l.until.Load()
	return until != nil && time.Now().Before(*until)
}

func (l *broken) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	return func(yield func([]log.Entry, error) bool) {
		if l.down() && after == 0 {
			l.reads.Add(1)
			yield(nil, errBroken)
			return
		}
		l.Log.Read(ctx, run, after)(yield)
	}
}

func (l *broken) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if l.down() && entries[0].Kind != log.KindAnswered {
		return 0, errBroken
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// lines counts what is logged.
type lines struct {
	slog.Handler
	n atomic.Int64
}

func (l *lines) Enabled(context.Context, slog.Level) bool  { return true }
func (l *lines) Handle(context.Context, slog.Record) error { l.n.Add(1); return nil }

func TestALogThatCantBeReadForAWhileLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		o := options(t, p.photon(true))
		l, said := &broken{Log: o.Log}, &lines{}
		o.Log, o.Logger = l, slog.New(said)
		b := open(t, o)
		id := b.start("patient", "")
		first, seq := b.asked(id, 0)
		time.Sleep(time.Hour)
		l.forAWhile(3 * time.Hour)
		b.accept(first, `{"first":"one"}`)
		time.Sleep(3 * time.Hour)
		if tries := l.reads.Load(); tries < 100 || tries > 250 {
			t.Errorf("it was tried %d times within three hours, want about one a minute", tries)
		}
		if n := said.n.Load(); n == 0 || n > 10 {
			t.Errorf("the logger was told %d times, want a few", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(b.Inbox(me, 0)); n != 1 {
			t.Fatalf("%d questions are open after %v", n, kinds(b.entries(id)))
		}
		second, _ := b.asked(id, seq)
		b.accept(second, `{"second":"two"}`)
		if f := b.finished(id); string(f.Result) != `"one two"` || p.stepped.Load() != 1 {
			t.Errorf("finished = %+v", f)
		}
	})
}

// A close doesn't wait for a run that can't be taken up, be it answered before or
// in the middle.
func TestACloseWhileTheLogIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		slow := photon("slow", func(ctx context.Context, _ generators.Yield) (any, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}, nil)
		o := options(t, p.photon(true), slow)
		l := &broken{Log: o.Log}
		o.Log = l
		b := open(t, o)
		var asked []string
		for range 2 {
			askID, _ := b.asked(b.start("patient", ""), 0)
			asked = append(asked, askID)
		}
		time.Sleep(time.Hour)
		working := b.start("slow", "")
		l.forAWhile(30 * time.Second)
		b.accept(asked[0], `{"first":"one"}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		time.AfterFunc(5*time.Second, func() { b.accept(asked[1], `{"first":"one"}`) })
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %v to close, want the minute of the run that works", took)
		}
		if f := b.finished(working); f.Status != log.Completed {
			t.Errorf("finished = %+v", f)
		}
	})
}

// unclaimable is a log that takes no claims for a while.
type unclaimable struct {
	log.Log
	left int
}

func (u *unclaimable) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if u.left > 0 && entries[0].Kind == log.KindClaimed {
		u.left--
		return 0, errBroken
	}
	return u.Log.Append(ctx, run, after, entries...)
}

func TestARunThatCantBeClaimedAfterARestartIsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, greeter)
		l := prefix(t, []log.Entry{
			log.New(log.KindStarted, log.Started{Photon: "greeter", Durable: true, Owner: me.Owner(), Args: json.RawMessage("{}")}),
			log.New(log.KindClaimed, log.Claimed{Epoch: 1}),
		}, 2)
		o.Log = &unclaimable{l, 3}
		b := open(t, o)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(b.Inbox(me, 0)); n != 1 {
			t.Errorf("%d questions are open after %v", n, kinds(b.entries(crashed)))
		}
	})
}

// A run that can't be read back is in no list, half read.
func TestARunThatCantBeReadBackIsLeftOut(t *testing.T) {
	o := options(t, greeter)
	o.Log = prefix(t, []log.Entry{
		log.New(log.KindStarted, log.Started{Photon: "greeter", Durable: true, Owner: me.Owner(), Args: json.RawMessage("{}")}),
		log.New(log.KindAsked, log.Asked{Key: "name", Question: &ask.Question{Kind: ask.KindText}}),
		{Kind: log.KindAnswered, Data: json.RawMessage(`"not one"`)},
	}, 3)
	b := open(t, o)
	if runs, open := b.Runs(me, 0, nil), b.Inbox(me, 0); len(runs)+len(open) != 0 {
		t.Errorf("listed: %+v, %+v", runs, open)
	}
}

func TestADeadlineThatCantBeRecordedIsRecordedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		o := options(t, p.photon(true, ask.Timeout(2*time.Hour)))
		l := &broken{Log: o.Log}
		o.Log = l
		b := open(t, o)
		id := b.start("patient", "")
		b.asked(id, 0)
		time.Sleep(time.Hour)
		l.forAWhile(2 * time.Hour)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if f := b.finished(id); f.Status != log.Failed || f.Error != ask.ErrTimeout.Error() {
			t.Errorf("finished = %+v", f)
		}
	})
}

// Events that wait are not lost with an answer that comes while the log is down.
func TestEventsThatCantBeAppendedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, murmurer())
		l := &broken{Log: o.Log}
		o.Log = l
		b := open(t, o)
		id := b.start("murmurer", "")
		askID, _ := b.asked(id, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		l.forAWhile(time.Millisecond)
		if err := settlings["answered"](b, askID); !errors.Is(err, errBroken) {
			t.Errorf("an answer to a log that is down: %v", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := b.count(id, "status"); n != 2 {
			t.Errorf("%d of 2 events are in the log", n)
		}
		b.accept(askID, `{"name":"Ada"}`)
		b.finished(id)
	})
}

func TestALogThatIsGoneEndsItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 300<<10)
		p := photon("talker", func(_ context.Context, yield generators.Yield) (string, error) {
			if _, err := generators.Step(yield, "big", func(context.Context) (string, error) { return long, nil }); err != nil {
				return "", err
			}
			return ask.Text(yield, "name", "Name?")
		}, &generators.Options{Durable: true})
		o := options(t, p)
		b := open(t, o)
		id := b.start("talker", "")
		askID, _ := b.asked(id, 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := b.blobs.Delete(id); err != nil {
			t.Fatal(err)
		}
		b.accept(askID, `{"name":"Ada"}`)
		synctest.Wait()
		if f, err := log.As[log.Finished](b.entries(id)[len(b.entries(id))-1]); err != nil || f.Status != log.Interrupted {
			t.Errorf("finished = %+v, %v", f, err)
		}
	})
}

// oneWay is a log that takes no entries for good, and then does again.
type oneWay struct {
	log.Log
	err atomic.Pointer[error]
}

func (l *oneWay) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if err := l.err.Load(); err != nil {
		return 0, *err
	}
	return l.Log.Append(ctx, run, after, entries...)
}

func (l *oneWay) refuse(err error) { l.err.Store(&err) }

// Nothing is done with a run that was left out, neither when its questions'
// deadlines pass.
func TestTheDeadlinesOfARunThatIsLeftOutDontPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, greeter)
		l := &oneWay{Log: prefix(t, []log.Entry{
			log.New(log.KindStarted, log.Started{Photon: "greeter", Owner: me.Owner(), Args: json.RawMessage("{}")}),
			log.New(log.KindAsked, log.Asked{Key: "name", Question: &ask.Question{Kind: ask.KindText}, Deadline: time.Now().Add(time.Hour)}),
		}, 2)}
		l.refuse(errBroken)
		o.Log = l
		b := open(t, o)
		if runs := b.Runs(me, 0, nil); len(runs) != 0 {
			t.Fatalf("listed: %+v", runs)
		}
		l.err.Store(nil)
		time.Sleep(2 * time.Hour)
		n := 0
		for batch := range l.Read(t.Context(), crashed, 0) {
			n += len(batch)
		}
		if n != 2 {
			t.Errorf("its log has %d entries, and had 2", n)
		}
	})
}

// An end that could not be recorded for good is wanted again, and then recorded
// when that is possible.
func TestAStopThatFailedForGoodCanBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		o := options(t, p.photon(true))
		l := &oneWay{Log: o.Log}
		o.Log = l
		b := open(t, o)
		id := b.start("patient", "")
		b.asked(id, 0)
		for range 2 {
			l.refuse(log.ErrUnavailable)
			if err := b.Cancel(t.Context(), me, id); !errors.Is(err, log.ErrUnavailable) {
				t.Errorf("stopping it while the log is down: %v", err)
			}
			l.refuse(errBroken)
			time.Sleep(time.Minute)
		}
		l.refuse(log.ErrUnavailable)
		if err := b.Cancel(t.Context(), me, id); !errors.Is(err, log.ErrUnavailable) {
			t.Errorf("stopping it while the log is down: %v", err)
		}
		time.Sleep(time.Minute)
		l.err.Store(nil)
		time.Sleep(time.Minute)
		if info, err := b.Info(me, id); err != nil || info.State != run.Stopped {
			t.Errorf("it is %s, %v", info.State, err)
		}
	})
}
