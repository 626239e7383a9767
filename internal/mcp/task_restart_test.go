package mcp_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// A task's id is valid after a restart, with its open question or, if it has ended, its
// result.
func TestTaskSurvivesRestart(t *testing.T) {
	durable := generators.New("word", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		yield(generators.Status("looking around"))
		return ask.Text(yield, "word", "Which word?")
	}, &generators.Options{Durable: true, Task: generators.TaskPreferred})
	record, dir := runlog.NewMemory(), t.TempDir()
	begin := func() (*stdioClient, func()) {
		registry, err := registry.NewRegistry(durable)
		if err != nil {
			t.Fatal(err)
		}
		blobs, err := blob.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		engine := engine.New(engine.Options{Photons: registry, Log: record, Blobs: blobs})
		if err := engine.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		server, err := mcp.New(mcp.Config{Engine: engine, Photons: registry, StateSecret: bytes.Repeat([]byte{1}, 32), Name: "beam", Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		server.AwaitEffects()
		w := (&testServer{Server: server, engine: engine}).connectStdio(t)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
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
	waits, ended := w.createTask(1, "word"), w.createTask(2, "word")
	w.sendElicitationResponse(3, ended, `{"elicitationId":"`+ended+`.4","action":"accept","content":{"word":"bird"}}`)
	w.sendTaskRequest(4, "tasks/result", ended)
	result := jsonMember(t, w.awaitResponse(4), "result")
	handle := w.callExtensionTask(5, "word")
	w.pollUntil(handle, "input_required")
	before := w.sendElicitationResponse(6, waits, `{"elicitationId":"`+ended+`.4","action":"decline"}`) // the question is another task's
	end()

	w, end = begin()
	defer end()
	if before == "" || w.taskStatus(waits) != "input_required" || w.taskStatus(ended) != "completed" {
		t.Errorf("after the restart the tasks are %s and %s", w.taskStatus(waits), w.taskStatus(ended))
	}
	w.sendTaskRequest(7, "tasks/result", ended)
	if got := jsonMember(t, w.awaitResponse(7), "result"); got != result {
		t.Errorf("after the restart the result is\n%s\nwant\n%s", got, result)
	}
	w.sendElicitationResponse(8, waits, `{"elicitationId":"`+waits+`.4","action":"accept","content":{"word":"fish"}}`)
	w.sendTaskRequest(9, "tasks/result", waits)
	if got := jsonMember(t, w.awaitResponse(9), "result", "content"); got != `[{"type":"text","text":"fish"}]` {
		t.Errorf("the answer after the restart leads to %s", got)
	}
	w.requestModern(10, "tasks/update", handle+`,"inputResponses":{"word":{"action":"accept","content":{"word":"frog"}}}`, tasksCapabilities)
	if got := jsonMember(t, w.pollUntil(handle, "completed"), "result", "result", "content"); got != `[{"type":"text","text":"frog"}]` {
		t.Errorf("the handle's result is %s", got)
	}
}
