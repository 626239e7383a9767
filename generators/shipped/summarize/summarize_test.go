package summarize_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/summarize"
)

// modelResult is the response of a model, as an MCP client sends it.
const modelResult = `{"role":"assistant","model":"m-1","stopReason":"endTurn","content":{"type":"text","text":" Short. "}}`

func run(t *testing.T, args string, text, summary beamtest.Response) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, summarize.Photon, args, beamtest.Script{"text": text, "summary": summary})
}

var sampleText = beamtest.Accept("A long story.")

func TestSummary(t *testing.T) {
	p := run(t, `{"sentences":1}`, sampleText, beamtest.Accept(json.RawMessage(modelResult)))
	got := beamtest.Decode[summarize.Summary](t, p)
	if want := (summarize.Summary{Text: "Short.", Model: "m-1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	changed := run(t, `{"sentences":1}`, sampleText, beamtest.Accept(json.RawMessage(strings.Replace(modelResult, "{", `{"_meta":{"beam/edited":true},`, 1))))
	if got := beamtest.Decode[summarize.Summary](t, changed); got.Model != "m-1, changed by a person" {
		t.Errorf("a changed summary is by %q", got.Model)
	}
	if want := []string{"Asking a model for 1 sentence"}; !slices.Equal(p.Statuses(), want) {
		t.Errorf("statuses %q", p.Statuses())
	}
}

func TestDefaultLength(t *testing.T) {
	s := run(t, `{}`, sampleText, beamtest.Accept(json.RawMessage(modelResult))).Questions["summary"].Sample
	if !strings.Contains(s.SystemPrompt, "at most 3 sentences") || s.MaxTokens != 240 {
		t.Errorf("the request is %+v", s)
	}
}

// A text that the caller gives is summarized without a question.
func TestTextAsAnArgument(t *testing.T) {
	p := beamtest.Run(t, summarize.Photon, summarize.Input{Text: "A long story.", Sentences: 3}, beamtest.Script{"summary": beamtest.Accept("Short.")})
	if got := beamtest.Decode[summarize.Summary](t, p); got.Text != "Short." {
		t.Errorf("got %+v", got)
	}
	if got := string(p.Questions["summary"].Sample.Messages[0].Content); !strings.Contains(got, "A long story.") || p.Questions["text"] != nil {
		t.Errorf("the model reads %s; the text was asked for: %v", got, p.Questions["text"] != nil)
	}
	blank := beamtest.Run(t, summarize.Photon, summarize.Input{Text: " \n", Sentences: 3}, beamtest.Script{"text": sampleText, "summary": beamtest.Accept("Short.")})
	if blank.Questions["text"] == nil {
		t.Error("a blank text is summarized")
	}
	if _, err := summarize.Photon.Check(json.RawMessage(`{"text":"` + strings.Repeat("a", 50_001) + `"}`)); err == nil {
		t.Error("a text of 50,001 characters is accepted")
	}
}

// The summary is the result; there is no artifact that repeats it.
func TestSummaryIsShownOnce(t *testing.T) {
	for _, e := range run(t, `{}`, sampleText, beamtest.Accept("Short.")).Events {
		if a, ok := e.(*generators.Artifact); ok {
			t.Errorf("there is an artifact %q", a.Title)
		}
	}
}

func TestSummaryByPerson(t *testing.T) {
	p := run(t, `{}`, sampleText, beamtest.Accept(json.RawMessage(`{"text":"Mine."}`)))
	if got := beamtest.Decode[summarize.Summary](t, p); got.Text != "Mine." || got.Model != ask.PersonModel {
		t.Errorf("got %+v", got)
	}
}

func TestReplay(t *testing.T) {
	o := beamtest.Replay(t, summarize.Photon, summarize.Input{Sentences: 2}, beamtest.Script{"text": sampleText, "summary": beamtest.Accept("Short.")})
	if got := beamtest.Decode[summarize.Summary](t, o); got.Text != "Short." {
		t.Errorf("got %+v", got)
	}
}

func TestIncompleteSummary(t *testing.T) {
	p := run(t, `{}`, sampleText, beamtest.Accept(json.RawMessage(strings.Replace(modelResult, "endTurn", "maxTokens", 1))))
	if s := p.Statuses(); p.Err != nil || len(s) != 2 || !strings.Contains(s[1], "is incomplete") {
		t.Errorf("statuses %q, %v", s, p.Err)
	}
}

func TestNoSummary(t *testing.T) {
	image := beamtest.Accept(json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"image","data":"eA==","mimeType":"image/png"}}`))
	if p := run(t, `{}`, sampleText, image); p.Err == nil || p.Err.Error() != "the model returned no text" {
		t.Errorf("a picture: %s, %v", p.Result, p.Err)
	}
	for want, response := range map[error]beamtest.Response{
		ask.ErrDeclined:    beamtest.Decline(),
		ask.ErrCancelled:   beamtest.Cancel(),
		ask.ErrUnsupported: beamtest.Fail(ask.ErrUnsupported),
	} {
		if p := run(t, `{}`, sampleText, response); !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("no model: %s, %v; want %v", p.Result, p.Err, want)
		}
		if p := run(t, `{}`, response, beamtest.Response{}); !errors.Is(p.Err, want) || p.Questions["summary"] != nil {
			t.Errorf("no text: %s, %v; want %v", p.Result, p.Err, want)
		}
	}
	var invalid *generators.InvalidError
	if p := run(t, `{}`, beamtest.Accept(""), beamtest.Response{}); !errors.As(p.Err, &invalid) {
		t.Errorf("an empty text: %v", p.Err)
	}
	if _, err := summarize.Photon.Check(json.RawMessage(`{"sentences":21}`)); err == nil {
		t.Error("21 sentences are accepted")
	}
}
