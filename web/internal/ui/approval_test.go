package ui

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// testModels returns two models.
func testModels() *llm.Models {
	m, err := llm.Parse([]byte(`{"models":[
		{"name":"small","endpoint":"http://127.0.0.1:1/v1","model":"small-1","cost":1,"maxTokens":400},
		{"name":"large","endpoint":"https://models.example/v1","intelligence":1,"accepts":["image","audio","tools"]}]}`))
	if err != nil {
		panic(err)
	}
	return m
}

// sampling adds an entry about the call of a model for a question.
func (w *logWriter) sampling(seq uint64, call int, change func(*runlog.Sampling)) {
	d := runlog.Sampling{AskSeq: seq, Call: call}
	change(&d)
	w.add(runlog.NewEntry(runlog.KindSampling, d))
}

func approve(review bool) func(*runlog.Sampling) {
	return func(d *runlog.Sampling) {
		d.Approved = &runlog.Approval{Model: "small", ID: "small-1", Endpoint: "http://127.0.0.1:1/v1", Review: review, Surface: "browser"}
	}
}

func text(s string) func(*runlog.Sampling) { return func(d *runlog.Sampling) { d.Text = s } }

func ended(e runlog.EndOfSampling) func(*runlog.Sampling) {
	return func(d *runlog.Sampling) { d.Ended = &e }
}

func replied(s string) func(*runlog.Sampling) {
	return ended(runlog.EndOfSampling{Result: &ask.SampleResult{Role: ask.RoleAssistant, Content: ask.FromAssistant(ask.TextBlock(s)).Content, Model: "small-1"}, InputTokens: 12, OutputTokens: 3})
}

// richRequest has everything that a request can have.
func richRequest() *askdata.Question {
	temperature, priority := 0.2, 0.8
	return &askdata.Question{Kind: askdata.KindSample, Message: "Request to a model: Say hello",
		Fields: askdata.Fields{{Name: "text", Title: "Answer", Type: "string", Format: askdata.FormatLong, Required: true}},
		Sample: asking.NewSample(&ask.SampleRequest{
			SystemPrompt: "Be **brief**.", MaxTokens: 5000, Temperature: &temperature, StopSequences: []string{"END"}, IncludeContext: "thisServer", Metadata: json.RawMessage(`{"a":1}`),
			ModelPreferences: &ask.ModelPreferences{Hints: []ask.ModelHint{{Name: "large"}}, CostPriority: &priority},
			Messages: []ask.SampleMessage{
				ask.FromUser(ask.TextBlock("Say hello <!-- and obey -->"), ask.ImageBlock([]byte("png"), "image/png"), ask.AudioBlock([]byte("wav"), "audio/wav")),
				ask.FromAssistant(ask.TextBlock("Hello")),
			},
			Tools: []json.RawMessage{json.RawMessage(`{"name":"look","description":"Looks","inputSchema":{"type":"object"}}`)}, ToolChoice: &ask.ToolChoice{Mode: "auto"},
		})}
}

func TestApprovals(t *testing.T) {
	withFrozenClock(t, func(t *testing.T) {
		form := func(w *logWriter, errs []generators.FieldError, values url.Values) string {
			return renderHTML(t, SampleForm(w.run.Open[0], w.run.Models, errs, values))
		}
		w := newLogWriter("{}")
		w.run.Models = testModels()
		seq := w.ask(richRequest())
		golden(t, "approval", SampleForm(w.run.Open[0], w.run.Models, nil, nil))
		html := form(w, []generators.FieldError{driver.At("requests", "must say how many")}, url.Values{"block-0-0": {"Changed"}, "system": {""}, "review": {"on"}, "scope": {"tool"}})
		for _, want := range []string{"\nChanged</textarea>", "Number of requests must say how many.", `name="review" checked`} {
			if !strings.Contains(html, want) {
				t.Errorf("the form with errors lacks %s: %s", want, html)
			}
		}
		w.sampling(seq, 1, approve(false))
		w.sampling(seq, 1, func(d *runlog.Sampling) { d.Notice = "It is busy." })
		w.sampling(seq, 1, text("Hel"))
		golden(t, "approval-replying", SampleForm(w.run.Open[0], w.run.Models, nil, nil))
		w.sampling(seq, 1, ended(runlog.EndOfSampling{Error: "The reply broke off.", Estimated: true}))
		if html := form(w, nil, nil); !strings.Contains(html, "The reply broke off.") || !strings.Contains(html, ">Hel<") || !strings.Contains(html, `name="call" value="2"`) {
			t.Errorf("after a failure, the form is %s", html)
		}
		w.advance(time.Second)
		w.sampling(seq, 2, approve(true))
		w.sampling(seq, 2, replied("Hello!"))
		golden(t, "approval-replied", SampleForm(w.run.Open[0], w.run.Models, nil, nil))
		golden(t, "run-sampling", Rows(w.run))
	})
}

func TestModelsPage(t *testing.T) {
	page := ModelsPage{
		Models:   testModels().All(),
		Since:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		Usage:    []sampling.Usage{{Server: "files", Tool: "files__read", Model: "small", Calls: 2, Failed: 1, InputTokens: 1200, OutputTokens: 3, Estimated: true}},
		Standing: []sampling.Standing{{ID: 1, Scope: sampling.ScopeServer, Name: "files", Model: "small", Requests: new(2), By: generators.Caller{ID: "ada", Name: "Ada"}}},
	}
	withFrozenClock(t, func(t *testing.T) {
		golden(t, "models", Models(testChrome(), page))
		golden(t, "models-unused", Models(testChrome(), ModelsPage{Models: testModels().All()}))
	})
}

// A reply's text is appended to its row and to its question, once. A change of phase
// renders the question again.
func TestPatchesOfAReply(t *testing.T) {
	w := newLogWriter("{}")
	w.run.Models = testModels()
	seq := w.ask(richRequest())
	w.takeChanges()
	w.sampling(seq, 1, approve(false))
	w.sampling(seq, 1, text("He"))
	first := patchesText(t, RunPatches(w.run, w.takeChanges()))
	if n := strings.Count(first, ">He<"); n != 2 || strings.Contains(first, "append #ask") {
		t.Errorf("the first batch has the text %d times: %s", n, first)
	}
	w.sampling(seq, 1, text("l"))
	w.sampling(seq, 1, text("lo"))
	next := patchesText(t, RunPatches(w.run, w.takeChanges()))
	id := askElementID(w.run.Open[0].ID)
	if want := "append #e-3-text llo\nappend #" + id + "-reply llo\n"; next != want {
		t.Errorf("the next batch is %q, want %q", next, want)
	}
	w.sampling(seq, 1, ended(runlog.EndOfSampling{Error: "It broke."}))
	if last := patchesText(t, RunPatches(w.run, w.takeChanges())); !strings.Contains(last, `id="`+id+`"`) || !strings.Contains(last, "Approve</button>") {
		t.Errorf("the last batch is %s", last)
	}
}

func patchesText(t *testing.T, patches []Patch) string {
	t.Helper()
	var b strings.Builder
	for _, p := range patches {
		b.WriteString(p.Mode + " " + p.Selector + " " + renderHTML(t, p.Component) + "\n")
	}
	return b.String()
}

// What rendering hides is shown as source at once.
func TestHiddenText(t *testing.T) {
	for text, want := range map[string]bool{
		"plain **bold** text, 1 < 2": false, "a <!-- b -->": true, "[a](https://b)": true, "![a](b)": true, "a\u200bb": true, "a\u202eb": true,
		"<b>x": true, "[x]: y": true, "a &amp; b": true, "tag \U000e0041": true, "a\u2800b": true, "a\u3164": true, "❤\ufe0f ok": false, "a\r\nb": false, "tab\tand\nline": false,
	} {
		if hidesText(text) != want {
			t.Errorf("hidesText(%q) is %v", text, !want)
		}
	}
}
