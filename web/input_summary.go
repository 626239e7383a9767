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
	"github.com/photon-beam/beam/web/ui"
)

// inputSummaries are runs' inputs in few words, for lists in which many runs of a photon
// stand. A run's input never changes, so it is read once.
type inputSummaries struct {
	mu    sync.Mutex
	byRun map[string]string // by run
}

// maxInputSummaries bounds what is remembered.
const maxInputSummaries = 2000

func newInputSummaries() *inputSummaries { return &inputSummaries{byRun: make(map[string]string)} }

func (c *inputSummaries) get(id string, read func() (string, bool)) string {
	c.mu.Lock()
	words, ok := c.byRun[id]
	c.mu.Unlock()
	if ok {
		return words
	}
	if words, ok = read(); !ok {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byRun) >= maxInputSummaries {
		clear(c.byRun)
	}
	c.byRun[id] = words
	return words
}

// runLines are runs as lists show them.
func (s *Server) runLines(who engine.Caller, infos []engine.Info) []ui.RunLine {
	list := make([]ui.RunLine, len(infos))
	for i, info := range infos {
		list[i] = ui.RunLine{Info: info, Input: s.inputSummaries.get(info.ID, func() (string, bool) { return s.summarizeInput(who, info) })}
	}
	return list
}

// summarizeInput says in few words what a run was started with; false if its log does not
// say yet.
func (s *Server) summarizeInput(who engine.Caller, info engine.Info) (string, bool) {
	batches, err := s.engine.Read(context.Background(), who, info.ID, 0)
	if err != nil {
		return "", false
	}
	for batch, err := range batches {
		if err != nil || len(batch) == 0 {
			break
		}
		begun, err := runlog.Decode[runlog.Started](batch[0])
		if err != nil {
			break
		}
		p, _ := s.photons.Lookup(info.Photon)
		return summarizeArguments(p, begun.Args), true
	}
	return "", false
}

// maxSummaryLength bounds an input in words, in characters.
const maxSummaryLength = 60

// summarizeArguments are the values of arguments in the order of the photon's form, but for
// those that are secret.
func summarizeArguments(p *generators.Photon, raw json.RawMessage) string {
	var args map[string]json.RawMessage
	if p == nil || json.Unmarshal(raw, &args) != nil {
		return ""
	}
	fields, err := form.FromInputSchema(p.Input().Document())
	if err != nil {
		return ""
	}
	var words []string
	for _, f := range fields {
		value, ok := args[f.Name]
		if !ok || f.Format == ask.FormatSecret {
			continue
		}
		if word := summarizeArgument(&f, value); word != "" {
			words = append(words, word)
		}
	}
	short := []rune(strings.Join(words, " · "))
	if len(short) > maxSummaryLength {
		return string(short[:maxSummaryLength]) + "…"
	}
	return string(short)
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
