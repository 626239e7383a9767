package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

var greeter = newPhoton("greeter", func(_ context.Context, yield generators.Yield) (string, error) {
	yield(generators.Status("waking up"))
	name, err := ask.Text(yield, "name", "Who is there?", ask.Length(2, 10))
	if err != nil {
		return "", err
	}
	yield(generators.Progress(1, 1, "done"))
	return "Hello, " + name, nil
}, &generators.Options{Durable: true})

func TestRunIsRecordedFromStartToResult(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRun("greeter", "")
	askID, _ := b.waitForAsk(id, 0)
	b.acceptAsk(askID, `{"name":"Ada"}`)
	f := b.waitForEnd(id)
	if f.Status != runlog.Completed || string(f.Result) != `"Hello, Ada"` {
		t.Errorf("finished = %+v", f)
	}
	want := []runlog.Kind{"started", "claimed", "status", "asked", "answered", "progress", "finished"}
	if got := kindsOf(b.entries(id)); !slices.Equal(got, want) {
		t.Errorf("log = %v, want %v", got, want)
	}
	info, err := b.Info(me, id)
	if err != nil || info.State != engine.Completed || info.Asks != nil || info.Ended.IsZero() {
		t.Errorf("info = %+v, %v", info, err)
	}
}

func TestStartRefuses(t *testing.T) {
	b := newTestEngine(t, greeter)
	var invalid *generators.InvalidError
	if _, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "nobody"}); !errors.Is(err, engine.ErrPhotonNotFound) {
		t.Errorf("starting an unknown photon: %v", err)
	}
	_, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "greeter", Args: json.RawMessage(`{"x":1,"y":2}`)})
	if !errors.As(err, &invalid) || len(invalid.Fields) != 2 {
		t.Errorf("starting with unknown arguments: %v", err)
	}
	if n := len(b.Runs(me, 0, nil)); n != 0 {
		t.Errorf("%d runs were started", n)
	}
}

func TestAnswerRefuses(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRun("greeter", "")
	askID, seq := b.waitForAsk(id, 0)
	yes := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
	stranger := generators.Caller{ID: "session:you"}
	tests := []struct {
		name string
		who  generators.Caller
		ask  string
		want error
	}{
		{"garbage", me, "garbage", engine.ErrAskNotFound},
		{"another run", me, runlog.AskID("00", seq), engine.ErrAskNotFound},
		{"an entry that is no ask", me, runlog.AskID(id, 1), engine.ErrAskNotFound},
		{"an entry that is not there", me, runlog.AskID(id, 999), engine.ErrAskNotFound},
		{"a stranger", stranger, askID, engine.ErrForbidden},
		{"nobody", generators.Caller{}, askID, engine.ErrForbidden},
	}
	for _, tt := range tests {
		if err := b.Answer(t.Context(), tt.who, tt.ask, yes, "test"); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	var invalid *generators.InvalidError
	bad := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"A"}`)}
	if err := b.Answer(t.Context(), me, askID, bad, "test"); !errors.As(err, &invalid) || driver.FieldOf(invalid.Fields[0]) != "name" {
		t.Errorf("too short: %v", err)
	}
	b.acceptAsk(askID, `{"name":"Ada"}`) // still open
	if err := b.Answer(t.Context(), me, askID, yes, "test"); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("a second answer: %v", err)
	}
	b.waitForEnd(id)
	if _, err := b.Engine.OpenAsk(t.Context(), me, askID); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestFirstAnswerWins(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRun("greeter", "")
	askID, _ := b.waitForAsk(id, 0)
	var wg sync.WaitGroup
	outcomes := make(chan error, 20)
	for range 20 {
		wg.Go(func() {
			a := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
			outcomes <- b.Answer(t.Context(), me, askID, a, "test")
		})
	}
	wg.Wait()
	close(outcomes)
	won := 0
	for err := range outcomes {
		if err == nil {
			won++
		} else if !errors.Is(err, engine.ErrSettled) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d answers were accepted, want one", won)
	}
}

func TestOtherOwnersSeeNothing(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRun("greeter", "")
	b.waitForAsk(id, 0)
	you := generators.Caller{ID: "session:you"}
	if _, err := b.Info(you, id); !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("info: %v", err)
	}
	if _, err := b.Follow(t.Context(), you, id, 0); !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("follow: %v", err)
	}
	if err := b.Cancel(t.Context(), you, id, "browser"); !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("cancel: %v", err)
	}
	if n := len(b.Runs(you, 0, nil)) + len(b.Inbox(you, 0)) + b.CountOpenAsks(you); n != 0 {
		t.Errorf("another owner's lists have %d entries", n)
	}
	if len(b.Runs(me, 0, nil)) != 1 || len(b.Inbox(me, 0)) != 1 || b.CountOpenAsks(me) != 1 {
		t.Error("the run isn't in the owner's lists")
	}
}

func TestCancelStopsTheGenerator(t *testing.T) {
	deferred := make(chan error, 1)
	p := newPhoton("waiter", func(ctx context.Context, yield generators.Yield) (any, error) {
		defer func() { deferred <- ctx.Err() }()
		_, err := ask.Text(yield, "name", "Who?")
		if yield(generators.Status("not recorded")) {
			t.Error("yield returned true after the stop")
		}
		return nil, err
	}, nil)
	b := newTestEngine(t, p)
	id := b.startRun("waiter", "")
	askID, _ := b.waitForAsk(id, 0)
	if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
		t.Fatal(err)
	}
	if err := <-deferred; err == nil {
		t.Error("the context was not canceled")
	}
	if f := b.waitForEnd(id); f.Status != runlog.Stopped {
		t.Errorf("finished = %+v", f)
	}
	want := []runlog.Kind{"started", "claimed", "asked", "withdrawn", "finished"}
	if got := kindsOf(b.entries(id)); !slices.Equal(got, want) {
		t.Errorf("log = %v, want %v", got, want)
	}
	if err := b.Answer(t.Context(), me, askID, askdata.Answer{Action: askdata.Decline}, "test"); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("a late answer: %v", err)
	}
	if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestStopOfToolThatIgnoresIt(t *testing.T) {
	release := make(chan none)
	p := newPhoton("deaf", func(context.Context, generators.Yield) (any, error) { <-release; return nil, nil }, nil)
	b := newTestEngine(t, p)
	id := b.startRun("deaf", "")
	if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
		t.Fatal(err)
	}
	if f := b.waitForEnd(id); f.Status != runlog.Stopped {
		t.Errorf("finished = %+v", f)
	}
	close(release)
}

func TestHowToolsFail(t *testing.T) {
	tests := []struct {
		name string
		fn   func(context.Context, generators.Yield) (any, error)
		want string
	}{
		{"error", func(context.Context, generators.Yield) (any, error) { return nil, errors.New("no such account") }, "no such account"},
		{"panic", func(context.Context, generators.Yield) (any, error) { panic("internal detail") }, "it panicked"},
		{"panic in a goroutine", func(ctx context.Context, yield generators.Yield) (any, error) {
			generators.Go(yield, func(context.Context, generators.Yield) { panic("internal detail") })
			<-ctx.Done()
			return nil, ctx.Err()
		}, "it panicked"},
		{"no JSON", func(context.Context, generators.Yield) (any, error) { return func() {}, nil }, "encoded as JSON"},
		{"a form for a password", func(_ context.Context, yield generators.Yield) (any, error) {
			return ask.Text(yield, "password", "Password?")
		}, "ask.Secret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestEngine(t, newPhoton("tool", tt.fn, nil))
			f := b.waitForEnd(b.startRun("tool", ""))
			if f.Status != runlog.Failed || !strings.Contains(f.Error, tt.want) || strings.Contains(f.Error, "internal detail") {
				t.Errorf("finished = %+v, want an error with %q", f, tt.want)
			}
		})
	}
}

func TestIdempotencyKey(t *testing.T) {
	b := newTestEngine(t, greeter)
	start := func(who generators.Caller, key, args string) (string, error) {
		info, err := b.Start(t.Context(), who, engine.StartRequest{Photon: "greeter", Args: json.RawMessage(args), IdempotencyKey: key})
		return info.ID, err
	}
	first, err := start(me, "k1", "{}")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := start(me, "k1", "{}"); err != nil || again != first {
		t.Errorf("the same request returned the run %s, %v; want %s", again, err, first)
	}
	if other, err := start(generators.Caller{ID: "session:you"}, "k1", "{}"); err != nil || other == first {
		t.Errorf("another owner's key: %s, %v", other, err)
	}
	if other, err := start(me, "k2", "{}"); err != nil || other == first {
		t.Errorf("another key: %s, %v", other, err)
	}
	b2 := newTestEngine(t, greeter, echo)
	if _, err := b2.Start(t.Context(), me, engine.StartRequest{Photon: "echo", Args: json.RawMessage(`{"text":"a"}`), IdempotencyKey: "k"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b2.Start(t.Context(), me, engine.StartRequest{Photon: "echo", Args: json.RawMessage(`{"text":"b"}`), IdempotencyKey: "k"}); !errors.Is(err, engine.ErrIdempotencyKeyReused) {
		t.Errorf("the same key for another request: %v", err)
	}
}

var echo = generators.New("echo", func(_ context.Context, in struct {
	Text string `json:"text"`
}, _ generators.Yield) (string, error) {
	return in.Text, nil
}, nil)

func TestFilesReachGeneratorThroughBlobStore(t *testing.T) {
	p := newPhoton("reader", func(_ context.Context, yield generators.Yield) (string, error) {
		f, err := ask.File(yield, "file", "A file, please", ask.MaxSize(10))
		if err != nil {
			return "", err
		}
		r, err := f.Open()
		if err != nil {
			return "", err
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		return f.Name + ":" + string(text), err
	}, nil)
	b := newTestEngine(t, p)
	id := b.startRun("reader", "")
	askID, _ := b.waitForAsk(id, 0)
	var invalid *generators.InvalidError
	if _, _, err := b.Upload(t.Context(), me, askID, strings.NewReader("more than ten")); !errors.As(err, &invalid) {
		t.Errorf("a large file: %v", err)
	}
	digest, size, err := b.Upload(t.Context(), me, askID, strings.NewReader("content"))
	if err != nil || size != 7 {
		t.Fatal(size, err)
	}
	a := askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{{Name: "a.txt", MediaType: "text/plain", Size: size, Digest: digest}}}
	if err := b.Answer(t.Context(), me, askID, a, "test"); err != nil {
		t.Fatal(err)
	}
	if f := b.waitForEnd(id); string(f.Result) != `"a.txt:content"` {
		t.Errorf("finished = %+v", f)
	}
}

func TestSecretsAreNeverInTheLog(t *testing.T) {
	const secret = "correct horse battery staple"
	p := newPhoton("vault", func(_ context.Context, yield generators.Yield) (int, error) {
		s, err := ask.Secret(yield, "key", "The key?")
		if s != secret {
			t.Errorf("the generator got %q", s)
		}
		return len(s), err
	}, nil)
	b := newTestEngine(t, p)
	id := b.startRun("vault", "")
	askID, _ := b.waitForAsk(id, 0)
	b.acceptAsk(askID, `{"key":"`+secret+`"}`)
	if f := b.waitForEnd(id); f.Status != runlog.Completed {
		t.Errorf("finished = %+v", f)
	}
	for _, e := range b.entries(id) {
		if bytes.Contains(e.Data, []byte("horse")) {
			t.Errorf("entry %d has the secret: %s", e.Seq, e.Data)
		}
	}
}

func TestLargeDataGoesToTheBlobStore(t *testing.T) {
	big := strings.Repeat("x", 2<<20)
	p := newPhoton("big", func(_ context.Context, yield generators.Yield) (string, error) {
		yield(generators.File("big.txt", "text/plain", []byte(big)))
		return big, nil
	}, nil)
	b := newTestEngine(t, p)
	id := b.startRun("big", "")
	f := b.waitForEnd(id)
	if f.Result != nil || f.ResultSize != int64(len(big)+2) || !strings.HasPrefix(big, strings.TrimSuffix(f.ResultPreview, " …")) {
		t.Errorf("the end is %+v", f)
	}
	result, err := b.OpenResult(me, id, &f)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	if raw, err := io.ReadAll(result); string(raw) != `"`+big+`"` {
		t.Errorf("the result has %d bytes, %v", len(raw), err)
	}
	var seq uint64
	for _, e := range b.entries(id) {
		if len(e.Data) > runlog.MaxEntryData {
			t.Errorf("entry %d has %d bytes", e.Seq, len(e.Data))
		}
		if e.Kind == "artifact" {
			seq = e.Seq
		}
	}
	a, body, err := b.OpenArtifact(t.Context(), me, id, seq)
	if err != nil || a.Size != int64(len(big)) {
		t.Fatal(a, err)
	}
	defer body.Close()
	if text, _ := io.ReadAll(body); string(text) != big {
		t.Errorf("the artifact has %d bytes", len(text))
	}
}

func TestCloseInterruptsNonDurableRuns(t *testing.T) {
	o := testOptions(t, greeter)
	o.Ephemeral = true
	b := openTestEngine(t, o)
	id := b.startRun("greeter", "")
	b.waitForAsk(id, 0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := b.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if f := b.waitForEnd(id); f.Status != runlog.Interrupted {
		t.Errorf("finished = %+v", f)
	}
	if _, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "greeter"}); !errors.Is(err, engine.ErrClosing) {
		t.Errorf("starting a run after Close: %v", err)
	}
}
