// Package mask masks the secrets that people have answered a run's questions with, wherever the
// run's generator shows them.
package mask

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
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/rawjson"
)

// Secrets are the secret answers of a run, longer ones before shorter ones, which may be a part
// of them and would leave the rest in the clear. They can be read while [Secrets.Add] makes
// others of them.
type Secrets []secret

// A secret is a secret answer, and the ordinal of its question.
type secret struct {
	askSeq    uint64
	spellings []string // the text, and how it may be written; longest first
	keyMask   string   // stands for it in keys, and for no other
}

// minSecret is the length of the shortest secret that is masked, in characters: a shorter
// one would be found everywhere.
const minSecret = 4

// Mask stands for a secret.
const Mask = "••••"

// Add returns the secrets, and those in the content of the answer to a question.
func (x Secrets) Add(askSeq uint64, content json.RawMessage) Secrets {
	var fields map[string]string
	if json.Unmarshal(content, &fields) != nil {
		return x
	}
	all := slices.Clone(x)
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if text := fields[name]; utf8.RuneCountInString(text) >= minSecret {
			all = append(all, secret{askSeq, spellingsOf(text), fmt.Sprintf("%s%d.%d", Mask, askSeq, i)})
		}
	}
	slices.SortStableFunc(all, func(a, b secret) int { return cmp.Compare(len(b.spellings[0]), len(a.spellings[0])) })
	return all
}

// Of returns those that answer the questions with some ordinals.
func (x Secrets) Of(asks []uint64) Secrets {
	return slices.DeleteFunc(slices.Clone(x), func(s secret) bool { return !slices.Contains(asks, s.askSeq) })
}

// Question returns a question with the secrets masked in its texts and in what it shows, and
// the ordinals of the questions that those in what it shows answer. The question itself isn't
// changed.
func (x Secrets) Question(q *askdata.Question) (_ *askdata.Question, inEvidence []uint64) {
	if len(x) == 0 {
		return q, nil
	}
	clone := *q
	clone.Fields, clone.Evidence = slices.Clone(q.Fields), slices.Clone(q.Evidence)
	for _, s := range x {
		clone.Message, clone.Yes, clone.No = s.mask(clone.Message), s.mask(clone.Yes), s.mask(clone.No)
		for i := range clone.Fields {
			s.maskField(&clone.Fields[i])
		}
		clone.Sample = asking.NewSample(s.maskSample(asking.SampleOf(&clone)))
		for i, a := range clone.Evidence {
			if m := s.maskArtifact(a); m != a {
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
func (s secret) maskField(f *askdata.Field) {
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

// Sample returns a request to a model with the secrets masked in its texts, but not in pictures
// and sounds. The request itself, which may be nil, isn't changed.
func (x Secrets) Sample(r *ask.SampleRequest) *ask.SampleRequest {
	for _, s := range x {
		r = s.maskSample(r)
	}
	return r
}

func (s secret) maskSample(r *ask.SampleRequest) *ask.SampleRequest {
	if r == nil {
		return nil
	}
	clone := *r
	only := Secrets{s}
	clone.SystemPrompt, clone.Messages = s.mask(r.SystemPrompt), slices.Clone(r.Messages)
	for i, m := range clone.Messages {
		blocks, err := m.Blocks()
		if err != nil || bytes.Equal(s.maskBytes(m.Content), m.Content) {
			continue
		}
		for n, b := range blocks {
			blocks[n].Text, blocks[n].Input, blocks[n].Content = s.mask(b.Text), only.JSON(b.Input), only.JSON(b.Content)
		}
		masked := ask.FromUser(blocks...)
		clone.Messages[i].Content = masked.Content
	}
	clone.Tools, clone.StopSequences = slices.Clone(r.Tools), slices.Clone(r.StopSequences)
	for i, tool := range clone.Tools {
		clone.Tools[i] = only.JSON(tool)
	}
	for i, text := range clone.StopSequences {
		clone.StopSequences[i] = s.mask(text)
	}
	clone.Metadata = only.JSON(r.Metadata)
	return &clone
}

// Artifact returns an artifact with the secrets masked. The artifact itself isn't changed.
func (x Secrets) Artifact(a *generators.Artifact) *generators.Artifact {
	for _, s := range x {
		a = s.maskArtifact(a)
	}
	return a
}

// Text returns a text with the secrets masked.
func (x Secrets) Text(text string) string {
	for _, s := range x {
		text = s.mask(text)
	}
	return text
}

// Key returns the key of a call with the secrets masked, as the log has it. Keys that differ in a
// secret still differ.
func (x Secrets) Key(key string) string {
	for _, s := range x {
		for _, form := range s.spellings {
			key = strings.ReplaceAll(key, form, s.keyMask)
		}
	}
	return key
}

// JSON returns a JSON value with the secrets masked in its strings, but not in the names of
// members.
func (x Secrets) JSON(raw json.RawMessage) json.RawMessage {
	if len(x) == 0 {
		return raw
	}
	return rawjson.MapTexts(raw, false, x.Text)
}

// maskArtifact returns a copy of an artifact with a secret masked, or the artifact itself
// if it doesn't have it.
func (s secret) maskArtifact(a *generators.Artifact) *generators.Artifact {
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
		text = strings.ReplaceAll(text, form, Mask)
	}
	return text
}

func (s secret) maskBytes(body []byte) []byte {
	for _, form := range s.spellings {
		body = bytes.ReplaceAll(body, []byte(form), []byte(Mask))
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
