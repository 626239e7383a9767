package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
)

// The terminal's client starts, follows and answers a run over HTTP; the log says that it
// was the terminal, and how much it had shown.
func TestTerminalClient(t *testing.T) {
	site := newSite(t, "sesame")
	remote := &runs.Remote{Base: site.URL, Token: "sesame", Client: &http.Client{}}
	ctx := t.Context()

	if _, err := remote.Photon(ctx, "nobody"); !errors.Is(err, engine.ErrPhotonNotFound) {
		t.Errorf("no such photon: %v", err)
	}
	var invalid *generators.InvalidError
	if _, err := remote.Start(ctx, "countdown", []byte(`{"seconds":0}`)); !errors.As(err, &invalid) {
		t.Errorf("invalid arguments: %v", err)
	}
	if _, err := (&runs.Remote{Base: site.URL, Token: "wrong", Client: &http.Client{}}).Photons(ctx); err == nil {
		t.Error("a wrong token was accepted")
	}
	id, err := remote.Start(ctx, "kitchen_sink", []byte(`{"ask":"evidence"}`))
	if err != nil {
		t.Fatal(err)
	}
	var last uint64
	kinds := make(map[runlog.Kind]runlog.Entry)
	for batch, err := range remote.Follow(ctx, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			if e.Seq <= last {
				t.Errorf("entry %d after %d", e.Seq, last)
			}
			last, kinds[e.Kind] = e.Seq, e
			if e.Kind != runlog.KindAsked {
				continue
			}
			askID := runlog.AskID(id, e.Seq)
			if open, err := remote.Ask(ctx, askID); err != nil || len(open.Question.Evidence) == 0 || len(open.Question.Evidence[0].Body) == 0 {
				t.Errorf("%v: the question has no evidence", err)
			}
			if err := remote.Answer(ctx, askID, runs.Answer{Action: askdata.Accept, Content: []byte(`{"no":1}`)}); !errors.As(err, &invalid) {
				t.Errorf("an invalid answer: %v", err)
			}
			if err := remote.Answer(ctx, askID, runs.Answer{Action: askdata.Decline, Rendered: runlog.RenderedFull}); err != nil {
				t.Error(err)
			}
			if err := remote.Answer(ctx, askID, runs.Answer{Action: askdata.Decline}); !errors.Is(err, engine.ErrSettled) {
				t.Errorf("a second answer: %v", err)
			}
		}
	}
	answered, err := runlog.Decode[runlog.Answered](kinds[runlog.KindAnswered])
	if err != nil || answered.Surface != runs.Surface || answered.Evidence != runlog.RenderedFull {
		t.Errorf("%v %+v", err, answered)
	}
	started, err := runlog.Decode[runlog.Started](kinds[runlog.KindStarted])
	if _, claimed := kinds[runlog.KindClaimed]; err != nil || started.Surface != runs.Surface || claimed || kinds[runlog.KindFinished].Seq == 0 {
		t.Errorf("%v %+v, claimed %v", err, started, claimed)
	}
	for range remote.Follow(ctx, id, last) {
		t.Error("there is more after the end")
	}
}

// Files and secrets go through the client, too; secrets are not in the log that it reads.
func TestTerminalClientSendsFilesAndSecrets(t *testing.T) {
	site := newSite(t, "sesame")
	remote := &runs.Remote{Base: site.URL, Token: "sesame", Client: &http.Client{}}
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("some notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, answer := range map[string]runs.Answer{
		"file":   {Action: askdata.Accept, Files: []string{path}},
		"secret": {Action: askdata.Accept, Content: json.RawMessage(`{"secret":"hunter2hunter2"}`)},
	} {
		id, err := remote.Start(t.Context(), "kitchen_sink", []byte(`{"ask":"`+kind+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range remote.Follow(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range batch {
				if e.Kind == runlog.KindAsked {
					askID := runlog.AskID(id, e.Seq)
					var invalid *generators.InvalidError
					if err := remote.Answer(t.Context(), askID, runs.Answer{Action: askdata.Accept, Files: []string{path + ".none"}}); !errors.As(err, &invalid) {
						t.Errorf("%s: a file that can't be read: %v", kind, err)
					}
					if err := remote.Answer(t.Context(), askID, answer); err != nil {
						t.Errorf("%s: %v", kind, err)
					}
				}
				if a, err := runlog.Decode[runlog.Answered](e); e.Kind == runlog.KindAnswered && (err != nil || a.Sealed != nil || a.Surface != runs.Surface || kind == "secret" && a.Answer.Content != nil) {
					t.Errorf("%s: %v %+v", kind, err, a)
				}
				if f, err := runlog.Decode[runlog.Finished](e); e.Kind == runlog.KindFinished && (err != nil || f.Status != runlog.Completed) {
					t.Errorf("%s: %v %+v", kind, err, f)
				}
			}
		}
	}
}

// Over HTTP as here, an approval of an older version of a request says so, and not that the
// question is settled; one that names no version approves none that a person has changed.
func TestTerminalClientApproves(t *testing.T) {
	s, server := newModelSite(t, func(x *llmtest.Call) { x.Refuse(401, "who?") })
	p := s.newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	remote := &runs.Remote{Base: s.URL, Client: p.client}
	if err := remote.Approve(t.Context(), q.ID, sampling.Decision{Model: "small", MaxTokens: 7}); err != nil {
		t.Fatal(err)
	}
	for page := ""; !strings.Contains(page, "who?"); page = readText(t, p.request("GET", run.URL, "", "Accept", "text/html")) {
	}
	if err := remote.Approve(t.Context(), q.ID, sampling.Decision{Call: 1}); !errors.Is(err, engine.ErrSamplingChanged) {
		t.Errorf("an older version: %v", err)
	}
	var invalid *generators.InvalidError
	if err := remote.Approve(t.Context(), q.ID, sampling.Decision{}); !errors.As(err, &invalid) || driver.FieldOf(invalid.Fields[0]) != "call" {
		t.Errorf("no version: %v", err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=decline", "", formHeader...), http.StatusAccepted)
	if err := remote.Approve(t.Context(), q.ID, sampling.Decision{Call: 2}); !errors.Is(err, engine.ErrSettled) {
		t.Errorf("a settled question: %v", err)
	}
}
