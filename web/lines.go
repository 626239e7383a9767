package web

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/ui"
)

// inputs are runs' inputs in few words, for lists in which many runs of a photon
// stand. A run's input never changes, so it is read once.
type inputs struct {
	mu    sync.Mutex
	words map[string]string // by run
}

// maxInputs bounds what is remembered.
const maxInputs = 2000

func newInputs() *inputs { return &inputs{words: make(map[string]string)} }

func (c *inputs) of(id string, read func() (string, bool)) string {
	c.mu.Lock()
	words, ok := c.words[id]
	c.mu.Unlock()
	if ok {
		return words
	}
	if words, ok = read(); !ok {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.words) >= maxInputs {
		clear(c.words)
	}
	c.words[id] = words
	return words
}

// lines are runs as lists show them.
func (s *Server) lines(who run.Caller, infos []run.Info) []ui.RunLine {
	list := make([]ui.RunLine, len(infos))
	for i, info := range infos {
		list[i] = ui.RunLine{Info: info, Input: s.inputs.of(info.ID, func() (string, bool) { return s.input(who, info) })}
	}
	return list
}

// input says in few words what a run was started with; false if its log does not
// say yet.
func (s *Server) input(who run.Caller, info run.Info) (string, bool) {
	batches, err := s.engine.Read(context.Background(), who, info.ID)
	if err != nil {
		return "", false
	}
	for batch, err := range batches {
		if err != nil || len(batch) == 0 {
			break
		}
		begun, err := log.As[log.Started](batch[0])
		if err != nil {
			break
		}
		p, _ := s.photons.Lookup(info.Photon)
		return inWords(p, begun.Args), true
	}
	return "", false
}

// maxWords bounds an input in words, in characters.
const maxWords = 60

// inWords are the values of arguments in the order of the photon's form, but for
// those that are secret.
func inWords(p *generators.Photon, raw json.RawMessage) string {
	var args map[string]json.RawMessage
	if p == nil || json.Unmarshal(raw, &args) != nil {
		return ""
	}
	fields, err := ask.Inputs(p.Input().Document())
	if err != nil {
		return ""
	}
	var words []string
	for _, f := range fields {
		value, ok := args[f.Name]
		if !ok || f.Format == ask.FormatSecret {
			continue
		}
		if word := inWord(&f, value); word != "" {
			words = append(words, word)
		}
	}
	short := []rune(strings.Join(words, " · "))
	if len(short) > maxWords {
		return string(short[:maxWords]) + "…"
	}
	return string(short)
}

func inWord(f *ask.Field, value json.RawMessage) string {
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
