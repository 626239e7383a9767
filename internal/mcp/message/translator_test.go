package message_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// source has pages, and artifacts of a given size.
type source struct{ size int64 }

func (source) PageBaseURL() (string, error) { return "http://b", nil }

func (source) ApprovedSample(string) (*ask.SampleRequest, error)     { return nil, nil }
func (source) OpenResult(*runlog.Finished) (io.ReadCloser, error)    { return nil, nil }
func (source) Content(end *runlog.Finished) (json.RawMessage, error) { return end.Content, nil }

func (s source) OpenArtifact(context.Context, uint64) (*generators.Artifact, io.ReadCloser, error) {
	return &generators.Artifact{Title: "A", MediaType: "text/plain", Size: s.size}, io.NopCloser(strings.NewReader("body")), nil
}

func newTranslator(c message.Client, s source) *message.Translator {
	return &message.Translator{Client: &c, Photon: message.PlaceholderPhoton("tool"), RunID: "r", Source: s}
}

func encode(t *testing.T, e generators.Event, seq uint64) runlog.Entry {
	t.Helper()
	kind, data, err := driver.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return runlog.Entry{Seq: seq, Kind: runlog.Kind(kind), Data: data}
}

func TestAnUnknownKindIsSentAsJSON(t *testing.T) {
	tr := newTranslator(message.Client{LogLevel: message.SeverityInfo}, source{})
	var s message.State
	got, err := tr.Notification(&s, runlog.Entry{Seq: 3, Kind: "sparkle", Data: []byte(`{"n":1}`)})
	const want = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"tool","data":{"n":1}}}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	asked := runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &askdata.Question{Kind: "telepathy", Message: "Well?"}})
	got, err = tr.AskMessage(asked)
	if err != nil || !strings.Contains(string(got), `"notifications/message"`) || !strings.Contains(string(got), `"telepathy"`) {
		t.Errorf("%s, %v", got, err)
	}
	if r, _, err := tr.AskRequest(&runlog.Asked{Question: &askdata.Question{Kind: "telepathy"}}, "r.1"); err == nil {
		t.Errorf("a question of an unknown kind is asked: %+v", r)
	}
}

// A client is told why a run does nothing for now, as it is told a status: it sleeps, or
// waits for another run.
func TestPausesAreToldAsStatuses(t *testing.T) {
	tr := newTranslator(message.Client{LogLevel: message.SeverityInfo}, source{})
	queued, err := tr.Notification(new(message.State), runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"}))
	if err != nil || !strings.Contains(string(queued), `"data":"Waits for another run with the key \"prod\""`) {
		t.Errorf("%s, %v", queued, err)
	}
	for want, d := range map[string]runlog.Sampling{
		`"data":"Asking the model small"`: {Approved: &runlog.Approval{Model: "small"}}, `"data":"It is busy."`: {Notice: "It is busy."}, `"data":"It broke."`: {Ended: &runlog.EndOfSampling{Error: "It broke."}},
	} {
		if got, err := tr.Notification(new(message.State), runlog.NewEntry(runlog.KindSampling, d)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	for _, d := range []runlog.Sampling{{Text: "Hel"}, {Ended: &runlog.EndOfSampling{Result: &ask.SampleResult{}}}} {
		if got, err := tr.Notification(new(message.State), runlog.NewEntry(runlog.KindSampling, d)); err != nil || got != nil {
			t.Errorf("a client is told %s, %v", got, err)
		}
	}
	e := runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "night", Until: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)})
	for token, want := range map[string]string{
		"p": `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0,"message":"Sleeps until 2026-11-23 09:00:00 UTC"}}`,
		"":  `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"tool","data":"Sleeps until 2026-11-23 09:00:00 UTC"}}`,
	} {
		if tr.ProgressToken = nil; token != "" {
			tr.ProgressToken = message.StringID(token)
		}
		got, err := tr.Notification(new(message.State), e)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

// TestStateDoesNotDependOnTheClient checks that a client without a progress token
// leaves the same state as one with it.
func TestStateDoesNotDependOnTheClient(t *testing.T) {
	with, without := newTranslator(message.Client{LogLevel: message.NoLogging}, source{}), newTranslator(message.Client{LogLevel: message.NoLogging}, source{})
	with.ProgressToken = message.StringID("p")
	var a, b message.State
	for i, e := range []generators.Event{generators.Status("s"), generators.Progress(3, 4, ""), generators.Status("s")} {
		told, err := with.Notification(&a, encode(t, e, uint64(i+1)))
		if err != nil || told == nil {
			t.Errorf("%d: %s, %v", i, told, err)
		}
		told, err = without.Notification(&b, encode(t, e, uint64(i+1)))
		if err != nil || told != nil {
			t.Errorf("%d without a token: %s, %v", i, told, err)
		}
	}
	if a.Progress != b.Progress {
		t.Errorf("%+v and %+v", a.Progress, b.Progress)
	}
}

func TestArtifactsInTheResult(t *testing.T) {
	for version, want := range map[string][]string{
		mcp.ProtocolVersion20250326: {`text "body"`, `text "A (text/plain, 5000000 bytes) is at http://b/runs/r/artifacts/4"`},
		mcp.ProtocolVersion20251125: {`text "body"`, `resource_link http://b/runs/r/artifacts/4`},
	} {
		for i, size := range []int64{4, 5_000_000} {
			tr := newTranslator(message.Client{Version: version}, source{size})
			var s message.State
			if n, err := tr.Notification(&s, encode(t, generators.File("A", "text/plain", []byte("body")), 4)); n != nil || err != nil {
				t.Errorf("an artifact is announced: %s, %v", n, err)
			}
			r, err := tr.Result(t.Context(), &s, runlog.Finished{Status: runlog.Completed, Result: []byte("null")})
			if err != nil || len(r.Content) != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			got := r.Content[0].Type + " " + r.Content[0].URI
			if text := r.Content[0].Text; text != nil {
				got = "text \"" + *text + "\""
			}
			if got != want[i] {
				t.Errorf("%s, %d bytes: %s, want %s", version, size, got, want[i])
			}
		}
	}
}
