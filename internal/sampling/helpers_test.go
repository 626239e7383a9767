package sampling_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/smallstate"
)

var (
	ada = generators.Caller{ID: "session:ada"}
	bob = generators.Caller{ID: "session:bob"}
)

type prompt struct {
	Text string `json:"text"`
	N    int    `json:"n,omitempty"` // how many requests; 1

	MaxTokens int    `json:"maxTokens,omitempty"` // 1000
	Hint      string `json:"hint,omitempty"`
	Full      bool   `json:"full,omitempty"` // with a temperature, a stop sequence and a choice of tools
}

// askModel asks a model, as often as the input says, and returns what it said.
func askModel(_ context.Context, in prompt, yield generators.Yield) (string, error) {
	said := ""
	for i := range max(1, in.N) {
		yield(generators.Status("asking"))
		request := ask.SampleRequest{
			SystemPrompt: "Be brief.", Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock(in.Text))}, MaxTokens: cmp.Or(in.MaxTokens, 1000), IncludeContext: "allServers",
		}
		if in.Hint != "" {
			request.ModelPreferences = &ask.ModelPreferences{Hints: []ask.ModelHint{{Name: in.Hint}}}
		}
		if in.Full {
			request.Temperature, request.StopSequences = new(0.2), []string{"END"}
			request.ToolChoice = &ask.ToolChoice{Mode: "auto"}
		}
		r, err := ask.Sample(yield, fmt.Sprint("q", i), request)
		if err != nil {
			return said, err
		}
		said += r.Model + ": " + r.Text() + " (" + r.StopReason + ")"
		if r.Edited {
			said += " edited"
		}
	}
	return said, nil
}

var photons = []*generators.Photon{
	generators.New("asker", askModel, &generators.Options{Durable: true}),
	generators.New("files__asker", askedBy("files__asker"), nil),
	generators.New("files__other", askedBy("files__other"), nil),
	generators.New("files__unsure", askedBy(""), nil), // the server doesn't say which tool asks
	generators.New("files__local", askModel, nil),     // a photon that is only named so
}

// askedBy returns [askModel] as a tool of the server files asks.
func askedBy(tool string) generators.Func[prompt, string] {
	return func(ctx context.Context, in prompt, yield generators.Yield) (string, error) {
		return askModel(ctx, in, func(e generators.Event) bool {
			if c, ok := driver.CallOf(e); ok {
				q := *c.Question.(*askdata.Question)
				q.Server, q.Tool = "files", tool
				c.Question = &q
			}
			return yield(e)
		})
	}
}

// A beam is an engine that calls models.
type beam struct {
	*engine.Engine
	*sampling.Service
	t      testing.TB
	models *llm.Models
	log    runlog.Log
	blobs  *blob.Store
	values smallstate.Store
}

// open opens the log of b, or a new one if b is nil, with models.
func open(t testing.TB, b *beam, models *llm.Models) *beam {
	t.Helper()
	next := &beam{t: t, models: models}
	if b != nil {
		next.log, next.blobs, next.values = b.log, b.blobs, b.values
	} else {
		next.log, next.values = runlog.NewMemory(), smallstate.NewMemory()
		var err error
		if next.blobs, err = blob.Open(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { next.blobs.Close() })
	}
	registry, err := registry.NewRegistry(photons...)
	if err != nil {
		t.Fatal(err)
	}
	next.Engine = engine.New(engine.Options{Photons: registry, Log: next.log, Blobs: next.blobs})
	next.Service = sampling.New(sampling.Config{Engine: next.Engine, Models: models, State: next.values})
	if err := next.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	next.Resume()
	t.Cleanup(next.close)
	return next
}

// Standings returns the standing approvals that a caller may revoke.
func (b *beam) Standings(caller generators.Caller) []sampling.Standing {
	b.t.Helper()
	list, err := b.Service.Standings(b.t.Context(), caller)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// used returns what has been used by the runs that a caller may see.
func (b *beam) used(caller generators.Caller) []sampling.Usage {
	b.t.Helper()
	list, err := b.Usages(b.t.Context(), caller)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// close ends the process: what isn't in the log is gone.
func (b *beam) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.Engine.Close(ctx)
	b.Service.Close()
}

func (b *beam) start(photon string, in prompt, samples bool) string {
	b.t.Helper()
	args, _ := json.Marshal(in)
	info, err := b.Engine.Start(b.t.Context(), ada, engine.StartRequest{Photon: photon, Args: args, Surface: "test", Samples: samples})
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// waitFor waits for an entry of a run.
func (b *beam) waitFor(run string, matches func(runlog.Entry) bool) runlog.Entry {
	b.t.Helper()
	batches, err := b.Follow(b.t.Context(), callers.Operator(), run, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			b.t.Fatal(err)
		}
		for _, e := range batch {
			if matches(e) {
				return e
			}
		}
	}
	b.t.Fatal("the run has ended without the entry")
	return runlog.Entry{}
}

func kind(k runlog.Kind) func(runlog.Entry) bool {
	return func(e runlog.Entry) bool { return e.Kind == k }
}

// sampled returns a function that matches entries about the calls of models.
func sampled(matches func(runlog.Sampling) bool) func(runlog.Entry) bool {
	return func(e runlog.Entry) bool {
		if e.Kind != runlog.KindSampling {
			return false
		}
		d, err := runlog.Decode[runlog.Sampling](e)
		return err == nil && matches(d)
	}
}

func isText(d runlog.Sampling) bool { return d.Text != "" }

func endOf(call int) func(runlog.Entry) bool {
	return sampled(func(d runlog.Sampling) bool { return d.Call == call && d.Ended != nil })
}

// ask starts a run and returns it and its question.
func (b *beam) ask(text string) (run, askID string) {
	b.t.Helper()
	run = b.start("asker", prompt{Text: text}, false)
	return run, runlog.AskID(run, b.waitFor(run, kind(runlog.KindAsked)).Seq)
}

// askFull is ask with a request that has all parameters.
func (b *beam) askFull() (run, askID string) {
	b.t.Helper()
	run = b.start("asker", prompt{Text: "x", Full: true}, false)
	return run, runlog.AskID(run, b.waitFor(run, kind(runlog.KindAsked)).Seq)
}

func (b *beam) approve(askID string, d sampling.Decision) {
	b.t.Helper()
	d.Call = cmp.Or(d.Call, b.state(askID).Call+1)
	if err := b.Approve(b.t.Context(), ada, "browser", askID, d); err != nil {
		b.t.Fatal(err)
	}
}

// result waits for the end of a run.
func (b *beam) result(run string) string {
	b.t.Helper()
	f, err := runlog.Decode[runlog.Finished](b.waitFor(run, kind(runlog.KindFinished)))
	if err != nil {
		b.t.Fatal(err)
	}
	if f.Status == runlog.Completed {
		var text string
		_ = json.Unmarshal(f.Result, &text)
		return text
	}
	return string(f.Status) + " " + string(f.Reason())
}

func (b *beam) state(askID string) *sampling.State {
	b.t.Helper()
	s, err := b.State(b.t.Context(), ada, askID)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// replier returns a server that replies at once, and its model.
func replier(t testing.TB, text string) (*llmtest.Server, *llm.Models) {
	s := llmtest.New(t, func(x *llmtest.Call) { x.Reply(text) })
	return s, s.Models(`"name":"m"`)
}
