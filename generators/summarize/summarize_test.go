package summarize_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/internal/photontest"
	"github.com/photon-beam/beam/generators/summarize"
)

const model = `{"role":"assistant","model":"m-1","stopReason":"endTurn","content":{"type":"text","text":" Short. "}}`

func run(t *testing.T, args string, text, summary photontest.Response) *photontest.Outcome {
	t.Helper()
	return photontest.Runner{Script: photontest.Script{"text": text, "summary": summary}}.Run(t, summarize.Photon, args)
}

var sampleText = photontest.Accept(`{"text":"A long story."}`)

func TestSummary(t *testing.T) {
	p := run(t, `{"sentences":1}`, sampleText, photontest.Accept(model))
	got := photontest.Decode[summarize.Summary](t, p)
	if want := (summarize.Summary{Text: "Short.", Model: "m-1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := []string{"Asking a model for 1 sentence"}; !slices.Equal(p.Statuses(), want) {
		t.Errorf("statuses %q", p.Statuses())
	}
	photontest.CheckPhoton(t, summarize.Photon)
	photontest.GoldenPhoton(t, summarize.Photon, p)
	params, err := json.Marshal(p.Asked["summary"].Sample)
	if err != nil {
		t.Fatal(err)
	}
	photontest.Golden(t, "request", params)
}

func TestDefaultLength(t *testing.T) {
	s := run(t, `{}`, sampleText, photontest.Accept(model)).Asked["summary"].Sample
	if !strings.Contains(s.SystemPrompt, "at most 3 sentences") || s.MaxTokens != 240 {
		t.Errorf("the request is %+v", s)
	}
}

func TestSummaryByPerson(t *testing.T) {
	p := run(t, `{}`, sampleText, photontest.Accept(`{"text":"Mine."}`))
	if got := photontest.Decode[summarize.Summary](t, p); got.Text != "Mine." || got.Model != ask.PersonModel {
		t.Errorf("got %+v", got)
	}
}

func TestIncompleteSummary(t *testing.T) {
	p := run(t, `{}`, sampleText, photontest.Accept(strings.Replace(model, "endTurn", "maxTokens", 1)))
	if s := p.Statuses(); p.Err != nil || len(s) != 2 || !strings.Contains(s[1], "is incomplete") {
		t.Errorf("statuses %q, %v", s, p.Err)
	}
}

func TestNoSummary(t *testing.T) {
	image := photontest.Accept(`{"role":"assistant","model":"m","content":{"type":"image","data":"eA==","mimeType":"image/png"}}`)
	if p := run(t, `{}`, sampleText, image); p.Err == nil || p.Err.Error() != "the model returned no text" {
		t.Errorf("a picture: %s, %v", p.Result, p.Err)
	}
	for want, response := range map[error]photontest.Response{
		ask.ErrDeclined:    photontest.Decline(),
		ask.ErrCancelled:   photontest.Cancel(),
		ask.ErrUnsupported: photontest.Fail(ask.ErrUnsupported),
	} {
		if p := run(t, `{}`, sampleText, response); !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("no model: %s, %v; want %v", p.Result, p.Err, want)
		}
		if p := run(t, `{}`, response, photontest.Response{}); !errors.Is(p.Err, want) || p.Asked["summary"] != nil {
			t.Errorf("no text: %s, %v; want %v", p.Result, p.Err, want)
		}
	}
	var invalid *generators.InvalidError
	if p := run(t, `{}`, photontest.Accept(`{"text":""}`), photontest.Response{}); !errors.As(p.Err, &invalid) {
		t.Errorf("an empty text: %v", p.Err)
	}
	if _, err := summarize.Photon.Check(json.RawMessage(`{"sentences":21}`)); err == nil {
		t.Error("21 sentences are accepted")
	}
}
