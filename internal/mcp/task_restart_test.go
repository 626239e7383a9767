package mcp_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/run"
)

// A task's id is good after a restart: with the question that was open, and, of
// a task that had ended, with its result.
func TestATaskSurvivesARestart(t *testing.T) {
	durable := generators.New("word", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		yield(generators.Status("looking around"))
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true, Task: generators.TaskPreferred})
	record, dir := log.NewMemory(), t.TempDir()
	begin := func() (*wire, func()) {
		registry, err := generators.NewRegistry(durable)
		if err != nil {
			t.Fatal(err)
		}
		blobs, err := blob.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		engine := run.New(run.Options{Photons: registry, Log: record, Blobs: blobs})
		if err := engine.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		server, err := mcp.New(mcp.Config{Engine: engine, Photons: registry, Secret: bytes.Repeat([]byte{1}, 32), Name: "beam", Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		w := (&rig{Server: server, engine: engine}).stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		return w, func() {
			w.in.Close()
			server.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if err := engine.Close(ctx); err != nil {
				t.Error(err)
			}
			blobs.Close()
		}
	}
	w, end := begin()
	waits, ended := w.create(1, "word"), w.create(2, "word")
	w.respond(3, ended, `{"elicitationId":"`+ended+`.4","action":"accept","content":{"word":"bird"}}`)
	w.task(4, "tasks/result", ended)
	result := member(t, w.response(4), "result")
	handle := w.handle(5, "word")
	w.until(handle, "input_required")
	before := w.respond(6, waits, `{"elicitationId":"`+ended+`.4","action":"decline"}`) // of another task
	end()

	w, end = begin()
	defer end()
	if before == "" || w.status(waits) != "input_required" || w.status(ended) != "completed" {
		t.Errorf("after the restart the tasks are %s and %s", w.status(waits), w.status(ended))
	}
	w.task(7, "tasks/result", ended)
	if got := member(t, w.response(7), "result"); got != result {
		t.Errorf("after the restart the result is\n%s\nwant\n%s", got, result)
	}
	w.respond(8, waits, `{"elicitationId":"`+waits+`.4","action":"accept","content":{"word":"fish"}}`)
	w.task(9, "tasks/result", waits)
	if got := member(t, w.response(9), "result", "content"); got != `[{"type":"text","text":"fish"}]` {
		t.Errorf("the answer after the restart leads to %s", got)
	}
	w.extended(10, "tasks/update", handle+`,"inputResponses":{"word":{"action":"accept","content":{"word":"frog"}}}`, takesTasks)
	if got := member(t, w.until(handle, "completed"), "result", "result", "content"); got != `[{"type":"text","text":"frog"}]` {
		t.Errorf("the handle's result is %s", got)
	}
}
