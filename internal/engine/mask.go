package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlog"
)

// A secret is a secret answer, and the ordinal of its question.
type secret struct {
	askSeq    uint64
	spellings []string // the text, and how it may be written; longest first
	keyMask   string   // stands for it in keys, and for no other
}

// minSecret is the length of the shortest secret that is masked, in characters: a shorter
// one would be found everywhere.
const minSecret = 4

// secretMask stands for a secret.
const secretMask = "••••"

// noteSecret keeps an answer that the generator is about to get, to mask it wherever the
// generator shows it.
func (w *worker) noteSecret(a runlog.Answered) {
	w.addSecrets(a)
	w.noteMasked()
}

// addSecrets adds the secrets of an answer that has its content.
func (w *worker) addSecrets(a runlog.Answered) {
	var content map[string]string
	if json.Unmarshal(a.Answer.Content, &content) != nil {
		return
	}
	for i, name := range slices.Sorted(maps.Keys(content)) {
		if text := content[name]; utf8.RuneCountInString(text) >= minSecret {
			w.addSecret(secret{a.AskSeq, spellingsOf(text), fmt.Sprintf("%s%d.%d", secretMask, a.AskSeq, i)})
		}
	}
}

// addSecret adds a secret. Longer ones precede shorter ones, which may be a part of them
// and would leave the rest in the clear.
func (w *worker) addSecret(s secret) {
	w.secrets = append(w.secrets, s)
	slices.SortStableFunc(w.secrets, func(a, b secret) int { return cmp.Compare(len(b.spellings[0]), len(a.spellings[0])) })
}

// maskQuestion returns the question with secrets masked in its texts and in what it
// shows, and the ordinals of the questions that those in what it shows answer. It masks
// those for which include returns true, so that a replay gets what was recorded. The
// question itself isn't changed.
func (w *worker) maskQuestion(q *ask.Question, include func(secret) bool) (_ *ask.Question, inEvidence []uint64) {
	if !slices.ContainsFunc(w.secrets, include) {
		return q, nil
	}
	clone := *q
	clone.Fields, clone.Evidence = slices.Clone(q.Fields), slices.Clone(q.Evidence)
	for _, s := range w.secrets {
		if !include(s) {
			continue
		}
		clone.Message, clone.Yes, clone.No = s.mask(clone.Message), s.mask(clone.Yes), s.mask(clone.No)
		for i := range clone.Fields {
			s.maskField(&clone.Fields[i])
		}
		clone.Sample = s.maskSample(clone.Sample)
		for i, a := range clone.Evidence {
			if m := maskArtifact(a, s); m != a {
				clone.Evidence[i] = m
				inEvidence = append(inEvidence, s.askSeq)
			}
		}
	}
	return &clone, slices.Compact(inEvidence)
}

// maskField masks a secret in a field as people see it. The values of choices stay,
// because they are what the generator gets. A default with the secret is removed: in it, the
// mask would be the answer.
func (s secret) maskField(f *ask.Field) {
	f.Title, f.Description, f.PatternHint = s.mask(f.Title), s.mask(f.Description), s.mask(f.PatternHint)
	if string(s.maskBytes(f.Default)) != string(f.Default) && len(f.Choices) == 0 {
		f.Default = nil
	}
	f.Choices = slices.Clone(f.Choices)
	for i, c := range f.Choices {
		f.Choices[i].Title = s.mask(c.Title)
		if masked := s.mask(c.Value); c.Title == "" && masked != c.Value {
			f.Choices[i].Title = masked
		}
	}
}

// maskSample returns a request to a model with a secret masked in its texts, but not in
// pictures and sounds. The request itself, which may be nil, isn't changed.
func (s secret) maskSample(r *ask.SampleRequest) *ask.SampleRequest {
	if r == nil {
		return nil
	}
	clone := *r
	w := worker{secrets: []secret{s}}
	clone.SystemPrompt, clone.Messages = s.mask(r.SystemPrompt), slices.Clone(r.Messages)
	for i, m := range clone.Messages {
		blocks, err := m.Blocks()
		if err != nil || bytes.Equal(s.maskBytes(m.Content), m.Content) {
			continue
		}
		for n, b := range blocks {
			blocks[n].Text, blocks[n].Input, blocks[n].Content = s.mask(b.Text), w.maskJSON(b.Input), w.maskJSON(b.Content)
		}
		masked := ask.FromUser(blocks...)
		clone.Messages[i].Content = masked.Content
	}
	clone.Tools, clone.StopSequences = slices.Clone(r.Tools), slices.Clone(r.StopSequences)
	for i, tool := range clone.Tools {
		clone.Tools[i] = w.maskJSON(tool)
	}
	for i, text := range clone.StopSequences {
		clone.StopSequences[i] = s.mask(text)
	}
	clone.Metadata = w.maskJSON(r.Metadata)
	return &clone
}

// maskArtifact returns an artifact with secrets masked. The artifact itself isn't changed.
func (w *worker) maskArtifact(a *generators.Artifact) *generators.Artifact {
	for _, s := range w.secrets {
		a = maskArtifact(a, s)
	}
	return a
}

// maskText returns a text with secrets masked.
func (w *worker) maskText(text string) string {
	for _, s := range w.secrets {
		text = s.mask(text)
	}
	return text
}

// maskKey returns the key of a call with secrets masked, as the log has it. Keys that differ
// in a secret still differ.
func (w *worker) maskKey(key string) string {
	for _, s := range w.secrets {
		for _, form := range s.spellings {
			key = strings.ReplaceAll(key, form, s.keyMask)
		}
	}
	return key
}

// maskJSON returns a JSON value with secrets masked in its strings, but not in the names of
// members.
func (w *worker) maskJSON(raw json.RawMessage) json.RawMessage {
	if len(w.secrets) == 0 {
		return raw
	}
	return rawjson.MapTexts(raw, false, w.maskText)
}

// maskArtifact returns a copy of an artifact with a secret masked, or the artifact itself
// if it doesn't have it.
func maskArtifact(a *generators.Artifact, s secret) *generators.Artifact {
	m := *a
	m.Title, m.URI, m.Body = s.mask(m.Title), s.mask(m.URI), s.maskBytes(m.Body)
	if m.Title == a.Title && m.URI == a.URI && bytes.Equal(m.Body, a.Body) {
		return a
	}
	m.Size = int64(len(m.Body))
	return &m
}

func (s secret) mask(text string) string {
	for _, form := range s.spellings {
		text = strings.ReplaceAll(text, form, secretMask)
	}
	return text
}

func (s secret) maskBytes(body []byte) []byte {
	for _, form := range s.spellings {
		body = bytes.ReplaceAll(body, []byte(form), []byte(secretMask))
	}
	return body
}

// spellingsOf returns a text, with and without the space around it, and these as they are
// written in a string of JSON and in an address, the longest first.
func spellingsOf(text string) []string {
	var forms []string
	for _, t := range []string{text, strings.TrimSpace(text)} {
		if utf8.RuneCountInString(t) < minSecret {
			continue
		}
		forms = append(forms, t, url.QueryEscape(t), url.PathEscape(t), jsonSpelling(t, true), jsonSpelling(t, false))
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(forms)
}

// jsonSpelling returns a text as JSON writes it in a string.
func jsonSpelling(text string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	if e.Encode(text) != nil {
		return text
	}
	quoted := strings.TrimSpace(b.String())
	return quoted[1 : len(quoted)-1]
}
