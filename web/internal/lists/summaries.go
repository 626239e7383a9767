package lists

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// inputSummaries caches summaries of runs' inputs, which distinguish the runs of a
// photon in lists. It is safe for concurrent use.
type inputSummaries struct {
	mu    sync.Mutex
	byRun map[string]inputSummary
}

// An inputSummary is the summary of a run's input, or of its first answer if it has no
// input.
type inputSummary struct {
	text  string
	final bool   // it won't change
	seq   uint64 // the newest entry when it was made
}

// maxInputSummaries is the most summaries cached.
const maxInputSummaries = 20_000

func newInputSummaries() *inputSummaries {
	return &inputSummaries{byRun: make(map[string]inputSummary)}
}

// get returns the summary of a run's input, and whether it had to be read. The function
// read returns it, and whether it is final.
func (c *inputSummaries) get(i engine.Info, read func() (text string, final bool)) (text string, wasRead bool) {
	c.mu.Lock()
	s, ok := c.byRun[i.ID]
	c.mu.Unlock()
	if ok && (s.final || s.seq == i.LastSeq) {
		return s.text, false
	}
	s = inputSummary{seq: i.LastSeq}
	s.text, s.final = read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byRun) >= maxInputSummaries {
		clear(c.byRun)
	}
	c.byRun[i.ID] = s
	return s.text, true
}

// summarizeFirstAnswer summarizes the first answer among the first entries of a log.
func summarizeFirstAnswer(id string, entries []runlog.Entry) string {
	run := timeline.New(id)
	for _, e := range entries {
		run.Apply(e)
		if e.Kind != runlog.KindAnswered {
			continue
		}
		for _, a := range run.AnsweredAsks() {
			var values []string
			for _, v := range a.Values {
				if a.Question.Kind == askdata.KindFile {
					v.Text = v.Label // the file's name
				}
				values = append(values, strings.Join(strings.Fields(v.Text), " "))
			}
			if len(values) > 0 {
				return shorten(strings.Join(values, " · "))
			}
		}
	}
	return ""
}

// maxSummaryLength is the longest summary, in characters.
const maxSummaryLength = 60

// SummarizeArguments joins the values of arguments, without secrets, in the order of the
// photon's form.
func SummarizeArguments(p *generators.Photon, raw json.RawMessage) string {
	var args map[string]json.RawMessage
	if p == nil || json.Unmarshal(raw, &args) != nil {
		return ""
	}
	var values []string
	for _, part := range form.ForPhoton(p).Fill(raw).Parts {
		value, ok := args[part.Name]
		if !ok || part.Format == askdata.FormatSecret {
			continue
		}
		if text := summarizeArgument(&part.Field, value); text != "" {
			values = append(values, text)
		}
	}
	return shorten(strings.Join(values, " · "))
}

func shorten(summary string) string {
	if text := []rune(summary); len(text) > maxSummaryLength {
		return string(text[:maxSummaryLength]) + "…"
	}
	return summary
}

func summarizeArgument(f *askdata.Field, value json.RawMessage) string {
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
