package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// checkEvidence returns an error if a replayed question doesn't show what the recorded
// one does: whoever answers, or has answered, decides by that.
func (w *worker) checkEvidence(c *generators.Call, past *recordedCall) error {
	q, ok := ask.Of(c)
	if !ok {
		return nil
	}
	masked := func(s secret) bool { return slices.Contains(past.masked, s.askSeq) }
	if q, _ = w.maskQuestion(q, masked); runlog.DigestEvidence(q.Evidence) == past.evidence {
		return nil
	}
	return w.replayDiffersErrorf(past, "the question %q now shows something else than when it was asked", c.Key)
}

// A secret is the text of a secret answer, and the ordinal of its question.
type secret struct {
	askSeq uint64
	text   string
}

// minSecret is the length of the shortest secret that is masked, in characters: a shorter
// one would be found everywhere.
const minSecret = 4

// secretMask stands for a secret.
const secretMask = "••••"

// noteSecret keeps an answer that the generator is about to get, to mask it wherever the
// generator shows it.
func (w *worker) noteSecret(a runlog.Answered) {
	var content map[string]string
	if json.Unmarshal(a.Answer.Content, &content) != nil {
		return
	}
	for _, text := range content {
		if utf8.RuneCountInString(text) >= minSecret {
			w.secrets = append(w.secrets, secret{a.AskSeq, text})
		}
	}
}

// maskQuestion returns the question with secrets masked in its message and in what it
// shows, and the ordinals of the questions that those in what it shows answer. It masks
// those for which include returns true, so that a replay gets what was recorded. The
// question itself isn't changed.
func (w *worker) maskQuestion(q *ask.Question, include func(secret) bool) (_ *ask.Question, inEvidence []uint64) {
	clone := *q
	clone.Evidence = slices.Clone(q.Evidence)
	for _, s := range w.secrets {
		if !include(s) {
			continue
		}
		clone.Message = strings.ReplaceAll(clone.Message, s.text, secretMask)
		for i, a := range clone.Evidence {
			if m := maskArtifact(a, s.text); m != a {
				clone.Evidence[i] = m
				inEvidence = append(inEvidence, s.askSeq)
			}
		}
	}
	if clone.Message == q.Message && inEvidence == nil {
		return q, nil
	}
	return &clone, slices.Compact(inEvidence)
}

// maskArtifact returns a copy of an artifact with a text masked, or the artifact itself if
// it doesn't have it.
func maskArtifact(a *generators.Artifact, text string) *generators.Artifact {
	m := *a
	for _, form := range spellings(text) {
		m.Title = string(bytes.ReplaceAll([]byte(m.Title), form, []byte(secretMask)))
		m.URI = string(bytes.ReplaceAll([]byte(m.URI), form, []byte(secretMask)))
		m.Body = bytes.ReplaceAll(m.Body, form, []byte(secretMask))
	}
	if m.Title == a.Title && m.URI == a.URI && bytes.Equal(m.Body, a.Body) {
		return a
	}
	m.Size = int64(len(m.Body))
	return &m
}

// spellings returns a text, and the text as JSON writes it in a string.
func spellings(text string) [][]byte {
	forms := [][]byte{[]byte(text)}
	for _, escapeHTML := range []bool{true, false} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escapeHTML)
		if e.Encode(text) != nil {
			continue
		}
		quoted := bytes.TrimSpace(b.Bytes())
		if form := quoted[1 : len(quoted)-1]; !bytes.Equal(form, forms[0]) {
			forms = append(forms, form)
		}
	}
	return forms
}
