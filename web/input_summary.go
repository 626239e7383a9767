package web

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/ui"
)

// inputSummaries caches summaries of runs' inputs, which distinguish the runs of a
// photon in lists. A run's input never changes. It is safe for concurrent use.
type inputSummaries struct {
	mu    sync.Mutex
	byRun map[string]string
}

// maxInputSummaries is the most summaries cached.
const maxInputSummaries = 2000

func newInputSummaries() *inputSummaries { return &inputSummaries{byRun: make(map[string]string)} }

func (c *inputSummaries) get(id string, read func() (string, bool)) string {
	c.mu.Lock()
	summary, ok := c.byRun[id]
	c.mu.Unlock()
	if ok {
		return summary
	}
	if summary, ok = read(); !ok {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byRun) >= maxInputSummaries {
		clear(c.byRun)
	}
	c.byRun[id] = summary
	return summary
}

// runLines returns runs with the summaries of their inputs.
func (s *Server) runLines(caller generators.Caller, infos []engine.Info) []ui.RunLine {
	list := make([]ui.RunLine, len(infos))
	for i, info := range infos {
		owner := info.OwnerName
		if info.Owner == caller.ID {
			owner = ""
		}
		list[i] = ui.RunLine{Info: info, Owner: owner, Input: s.inputSummaries.get(info.ID, func() (string, bool) { return s.summarizeInput(caller, info) })}
	}
	return list
}

// summarizeInput summarizes a run's input; ok is false if its log doesn't contain it yet.
func (s *Server) summarizeInput(caller generators.Caller, info engine.Info) (summary string, ok bool) {
	batches, err := s.engine.Read(context.Background(), caller, info.ID, 0)
	if err != nil {
		return "", false
	}
	for batch, err := range batches {
		if err != nil || len(batch) == 0 {
			break
		}
		started, err := runlog.Decode[runlog.Started](batch[0])
		if err != nil {
			break
		}
		p, _ := s.photons.Lookup(info.Photon)
		return summarizeArguments(p, started.Args), true
	}
	return "", false
}

// maxSummaryLength is the longest summary, in characters.
const maxSummaryLength = 60

// summarizeArguments joins the values of arguments, without secrets, in the order of the
// photon's form.
func summarizeArguments(p *generators.Photon, raw json.RawMessage) string {
	var args map[string]json.RawMessage
	if p == nil || json.Unmarshal(raw, &args) != nil {
		return ""
	}
	var values []string
	for _, part := range form.ForPhoton(p).Fill(raw).Parts {
		value, ok := args[part.Name]
		if !ok || part.Format == ask.FormatSecret {
			continue
		}
		if text := summarizeArgument(&part.Field, value); text != "" {
			values = append(values, text)
		}
	}
	summary := []rune(strings.Join(values, " · "))
	if len(summary) > maxSummaryLength {
		return string(summary[:maxSummaryLength]) + "…"
	}
	return string(summary)
}

func summarizeArgument(f *ask.Field, value json.RawMessage) string {
	var text string
	var list []string
	switch {
	case f.Type == "boolean":
		if string(value) == "true" {
			return f.Label()
		}
		return ""
	case json.Unmarshal(value, &list) == nil:
		return strings.Join(list, ", ")
	case json.Unmarshal(value, &text) != nil:
		text = string(value)
	}
	for _, c := range f.Choices {
		if c.Value == text {
			text = c.Label()
		}
	}
	return strings.Join(strings.Fields(text), " ")
}
