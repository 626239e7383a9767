package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

type customError struct{ text string }

func (e *customError) Error() string { return e.text }

// Whatever a tool does wrong, its run ends and the process continues.
func TestMisbehavingToolsEnd(t *testing.T) {
	tests := []struct {
		name      string
		fn        func(context.Context, generators.Yield) (any, error)
		want      runlog.FinishStatus
		wantError string
	}{
		{"its goroutine ends", func(context.Context, generators.Yield) (any, error) {
			runtime.Goexit()
			return nil, nil
		}, runlog.Failed, "its goroutine ended"},
		{"an error that is nil within", func(context.Context, generators.Yield) (any, error) {
			var e *customError
			return nil, e
		}, runlog.Failed, "panicked"},
		{"events that are nil within", func(_ context.Context, yield generators.Yield) (any, error) {
			var a *generators.Artifact
			var s *generators.Stepped
			var r *generators.Result
			var c *driver.Call
			yield(a)
			yield(s)
			yield(r)
			yield(driver.NewEvent(c))
			yield(nil)
			return "still here", nil
		}, runlog.Completed, ""},
		{"a question without its rules", func(_ context.Context, yield generators.Yield) (any, error) {
			c := driver.NewCall("file", "file", &askdata.Question{Kind: askdata.KindFile})
			yield(driver.NewEvent(c))
			return nil, c.Wait().Err
		}, runlog.Failed, "ask.File"},
		{"a question that is nil within", func(_ context.Context, yield generators.Yield) (any, error) {
			var q *askdata.Question
			yield(driver.NewEvent(driver.NewCall("text", "text", q)))
			return "continued", nil
		}, runlog.Completed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestEngine(t, newPhoton("strange", tt.fn, nil))
			if f := b.waitForEnd(b.startRun("strange", "")); f.Status != tt.want || !strings.Contains(f.Error, tt.wantError) {
				t.Errorf("finished = %+v, want %s with %q", f, tt.want, tt.wantError)
			}
		})
	}
}

func TestStopAfterAnswerByAnotherProcess(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRun("greeter", "")
	_, seq := b.waitForAsk(id, 0)
	answered := runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}})
	if _, err := b.log.Append(t.Context(), id, seq, answered); err != nil {
		t.Fatal(err)
	}
	if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
		t.Fatal(err)
	}
	if info, err := b.Info(me, id); err != nil || !info.State.Ended() {
		t.Errorf("after the stop, the run is %s, %v", info.State, err)
	}
}

// Discarding an upload doesn't delete an artifact with the same content.
func TestDiscardUploadKeepsArtifact(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	p := newPhoton("maker", func(_ context.Context, yield generators.Yield) (any, error) {
		yield(generators.File("big.txt", "text/plain", []byte(big)))
		_, err := ask.File(yield, "file", "And yours?", ask.Accepting(".csv"))
		return nil, err
	}, nil)
	b := newTestEngine(t, p)
	id := b.startRun("maker", "")
	artifact := b.waitForEntry(id, 0, "artifact")
	askID, _ := b.waitForAsk(id, 0)
	digest, size, err := b.Upload(t.Context(), me, askID, strings.NewReader(big))
	if err != nil {
		t.Fatal(err)
	}
	refused := askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{{Name: "big.txt", Size: size, Digest: digest}}}
	var invalid *generators.InvalidError
	if err := b.Answer(t.Context(), me, askID, refused, "test"); !errors.As(err, &invalid) {
		t.Fatalf("a text instead of a CSV file: %v", err)
	}
	b.DiscardUpload(id, digest, size)
	_, body, err := b.OpenArtifact(t.Context(), me, id, artifact.Seq)
	if err != nil {
		t.Fatalf("opening the artifact: %v", err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); string(text) != big || err != nil {
		t.Errorf("the artifact has %d bytes, %v", len(text), err)
	}
}

// Batched events aren't lost if an answer fails.
func TestFailedAnswerKeepsBatchedEvents(t *testing.T) {
	reported := make(chan none)
	p := newPhoton("talker", func(ctx context.Context, yield generators.Yield) (any, error) {
		generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			yield(generators.Status("first"))
			yield(generators.Status("second"))
			close(reported)
		})
		_, err := ask.Text(yield, "text", "And?", ask.Long())
		return nil, err
	}, nil)
	b := newTestEngine(t, p)
	id := b.startRun("talker", "")
	askID, _ := b.waitForAsk(id, 0)
	<-reported
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	large := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"text":"` + strings.Repeat("x", 300<<10) + `"}`)}
	if err := b.Answer(canceled, me, askID, large, "test"); err == nil {
		t.Fatal("an answer that couldn't be stored was accepted")
	}
	b.acceptAsk(askID, `{"text":"short"}`)
	b.waitForEnd(id)
	n := 0
	for _, e := range b.entries(id) {
		if e.Kind == "status" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d of 2 events are in the log", n)
	}
}
