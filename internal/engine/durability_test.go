package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// restartAtSecondAsk opens an engine, starts a run, answers its first question,
// and opens another engine on the same log when the run asks its second.
func restartAtSecondAsk(t *testing.T, p *generators.Photon, keys string, hand func(b *testEngine, id, askID string)) (again *testEngine, id string) {
	t.Helper()
	o := testOptions(t, p)
	o.KeyDir = keys
	b := openTestEngine(t, o)
	id = b.startRun(p.Name(), "")
	askID, seq := b.waitForAsk(id, 0)
	hand(b, id, askID)
	b.waitForAsk(id, seq)
	b.closeNow()
	return openTestEngine(t, o), id
}

func acceptName(b *testEngine, _, askID string) { b.acceptAsk(askID, `{"name":"Ada"}`) }

// A failed step returns the same error when the run resumes, and doesn't run again.
func TestStepErrorIsTheSameAfterRestart(t *testing.T) {
	var tries atomic.Int64
	var seen []generators.StepError
	p := newPhoton("unlucky", func(_ context.Context, yield generators.Yield) (string, error) {
		_, err := generators.Step(yield, "pay", func(context.Context) (int, error) {
			return 7, fmt.Errorf("no luck, try %d", tries.Add(1))
		})
		var failed *generators.StepError
		if !errors.As(err, &failed) {
			return "", fmt.Errorf("the step returned %T: %w", err, err)
		}
		seen = append(seen, *failed)
		if _, err := ask.Text(yield, "name", "Name?"); err != nil {
			return "", err
		}
		_, err = ask.Text(yield, "color", "Colour?")
		return failed.Error(), err
	}, &generators.Options{Durable: true})
	b, id := restartAtSecondAsk(t, p, "", acceptName)
	askID, _ := b.waitForAsk(id, 5)
	b.acceptAsk(askID, `{"color":"red"}`)
	if f := b.waitForEnd(id); string(f.Result) != `"no luck, try 1"` || tries.Load() != 1 {
		t.Errorf("finished = %+v after %d tries", f, tries.Load())
	}
	if len(seen) != 2 || seen[0] != seen[1] {
		t.Errorf("the errors of the step are %+v", seen)
	}
}

// After a restart, a secret can still be read by its run. When the run ends, its key is
// deleted.
func TestSecretOutlivesRestartButNotItsRun(t *testing.T) {
	const secret = "correct horse battery staple"
	var got []string
	p := newPhoton("vault", func(_ context.Context, yield generators.Yield) (string, error) {
		s, err := ask.Secret(yield, "key", "The key?")
		if err != nil {
			return "", err
		}
		got = append(got, s)
		_, err = ask.Text(yield, "name", "Name?")
		return "thanks", err
	}, &generators.Options{Durable: true})
	keys := filepath.Join(t.TempDir(), "keys")
	b, id := restartAtSecondAsk(t, p, keys, func(b *testEngine, _, askID string) { b.acceptAsk(askID, `{"key":"`+secret+`"}`) })
	if _, err := os.Stat(filepath.Join(keys, id)); err != nil {
		t.Error("the key of a waiting run:", err)
	}
	askID, _ := b.waitForAsk(id, 4)
	b.acceptAsk(askID, `{"name":"Ada"}`)
	if f := b.waitForEnd(id); f.Status != runlog.Completed {
		t.Errorf("finished = %+v", f)
	}
	if len(got) != 2 || got[0] != secret || got[1] != secret {
		t.Errorf("the generator got %q", got)
	}
	if _, err := os.Stat(filepath.Join(keys, id)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the key exists after the end of the run:", err)
	}
	for _, e := range b.entries(id) {
		if bytes.Contains(e.Data, []byte("horse")) {
			t.Errorf("entry %d has the secret: %s", e.Seq, e.Data)
		}
	}
}

// An uploaded file is still in the blob store after a restart.
func TestUploadedFileOutlivesRestart(t *testing.T) {
	p := newPhoton("reader", func(_ context.Context, yield generators.Yield) (string, error) {
		handle, err := ask.File(yield, "file", "A file, please")
		if err != nil {
			return "", err
		}
		if _, err := ask.Text(yield, "name", "Name?"); err != nil {
			return "", err
		}
		f, err := handle.Open()
		if err != nil {
			return "", err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		return string(text), err
	}, &generators.Options{Durable: true})
	b, id := restartAtSecondAsk(t, p, "", func(b *testEngine, _, askID string) {
		digest, size, err := b.Upload(t.Context(), me, askID, strings.NewReader("content"))
		if err != nil {
			t.Fatal(err)
		}
		a := askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{{Name: "a.txt", MediaType: "text/plain", Size: size, Digest: digest}}}
		if err := b.Answer(t.Context(), me, askID, a, "test"); err != nil {
			t.Fatal(err)
		}
	})
	for _, e := range b.entries(id) {
		if bytes.Contains(e.Data, []byte("content")) && e.Kind == runlog.KindAnswered {
			t.Errorf("the log has the file: %s", e.Data)
		}
	}
	askID, _ := b.waitForAsk(id, 4)
	b.acceptAsk(askID, `{"name":"Ada"}`)
	if f := b.waitForEnd(id); string(f.Result) != `"content"` {
		t.Errorf("finished = %+v", f)
	}
}

// Uploaded files count toward the limit and the size of a run, whether or not an answer
// refers to them, even after a restart.
func TestUnusedUploadsCountAfterRestart(t *testing.T) {
	p := func(durable bool) *generators.Photon {
		return newPhoton("reader", func(_ context.Context, yield generators.Yield) (string, error) {
			_, err := ask.File(yield, "file", "A file, please")
			yield(generators.Status("thanks"))
			return "read", err
		}, &generators.Options{Durable: durable})
	}
	large := func(c string) io.Reader { return strings.NewReader(strings.Repeat(c, 600<<10)) }
	again := func(durable bool) (*testEngine, string, string) {
		o := testOptions(t, p(durable))
		o.Limits = engine.Limits{MaxBlobBytes: 1 << 20, RetainAtLeast: time.Nanosecond}
		b := openTestEngine(t, o)
		id := b.startRun("reader", "")
		askID, _ := b.waitForAsk(id, 0)
		if _, _, err := b.Upload(t.Context(), me, askID, large("a")); err != nil {
			t.Fatal(err)
		}
		b.closeNow()
		return openTestEngine(t, o), id, askID
	}

	b, id, askID := again(true)
	digest, size, err := b.Upload(t.Context(), me, askID, large("b"))
	if err != nil {
		t.Fatal(err)
	}
	a := askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{{Name: "b.txt", MediaType: "text/plain", Size: size, Digest: digest}}}
	if err := b.Answer(t.Context(), me, askID, a, "test"); err != nil {
		t.Fatal(err)
	}
	if f := b.waitForEnd(id); f.Status != runlog.Failed || !strings.Contains(f.Error, "bytes of artifacts and files") {
		t.Errorf("finished = %+v, want a failure, because its files exceed the limit", f)
	}

	b, id, _ = again(false)
	if pruned, err := b.Prune(engine.PruneCriteria{MaxBytes: pointerTo(int64(300 << 10))}, true); err != nil || len(pruned) != 1 || pruned[0].ID != id {
		t.Errorf("pruning to 300 KiB would delete %+v, %v, want the run, which has 600", pruned, err)
	}
}
