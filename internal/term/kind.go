package term

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"charm.land/huh/v2"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/runs"
)

// An askKind is what the terminal does with questions of one kind. Where a function is nil, it
// does what it does with a form, whose fields each have a control.
type askKind struct {
	files   bool                                              // the answer consists of files
	lenient bool                                              // while it is typed, a value is only checked for being there
	control func(*fieldValues) huh.Field                      // the only control
	lines   func(*Lines, context.Context, *fieldValues) error // asks line by line
	texts   func([]string) (runs.Answer, error)               // reads a prepared answer to the question as a whole
	value   func(json.RawMessage) (runs.Answer, error)        // reads a prepared answer in JSON
	// howToAnswer returns the flags that answer the question of a key, which is cleaned.
	howToAnswer func(q *Question, key string) string
	told        string // what is told of an accepted answer; empty for its content
}

// askKinds has every kind of question; see [ask.Kinds].
var askKinds = map[ask.Kind]askKind{
	ask.KindText:        {},
	ask.KindSecret:      {howToAnswer: howToAnswerSecret, told: hiddenValue},
	ask.KindConfirm:     {},
	ask.KindSelect:      {},
	ask.KindMultiSelect: {},
	ask.KindNumber:      {},
	ask.KindInteger:     {},
	ask.KindDate:        {},
	ask.KindDateTime:    {},
	ask.KindFile:        {files: true, control: (*fieldValues).fileField, lines: (*Lines).askPaths, texts: filesAnswer, value: filesFromJSON, howToAnswer: howToAnswerFile},
	ask.KindForm:        {},
	ask.KindURL:         {control: (*fieldValues).urlField, lines: (*Lines).askURL, texts: consentFromTexts, value: consentFromJSON, howToAnswer: howToAnswerURL, told: "agreed"},
	ask.KindSample:      {lenient: true, howToAnswer: howToAnswerSample},
	ask.KindRoots:       {lenient: true},
}

// hiddenValue stands for a secret.
const hiddenValue = "••••••"

// does returns what the terminal does with the question.
func (q *Question) does() askKind { return askKinds[q.Kind] }

func filesAnswer(paths []string) (runs.Answer, error) {
	return runs.Answer{Action: ask.Accept, Files: paths}, nil
}

func filesFromJSON(value json.RawMessage) (runs.Answer, error) {
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return filesAnswer(list)
	}
	var path string
	if json.Unmarshal(value, &path) != nil {
		return runs.Answer{}, errors.New("must be the path of a file, or a list of paths")
	}
	return filesAnswer([]string{path})
}

func consentFromTexts(texts []string) (runs.Answer, error) { return consent(lastOf(texts)) }

func consentFromJSON(value json.RawMessage) (runs.Answer, error) { return consent(string(value)) }

// consent returns the answer that a yes or a no is.
func consent(text string) (runs.Answer, error) {
	switch normalizeBool(text) {
	case "true":
		return runs.Answer{Action: ask.Accept}, nil
	case "false":
		return runs.Answer{Action: ask.Decline}, nil
	}
	return runs.Answer{}, fmt.Errorf("must be yes or no, not %q", text)
}

func howToAnswerSecret(_ *Question, key string) string {
	return fmt.Sprintf("--answers FILE, a JSON object such as {%q: VALUE}", key)
}

func howToAnswerFile(_ *Question, key string) string { return fmt.Sprintf("--answer %s=PATH", key) }

func howToAnswerURL(q *Question, key string) string {
	return fmt.Sprintf("--answer %s=yes, once you have opened %s", key, cleantext.Line(q.URL))
}

func howToAnswerSample(q *Question, key string) string {
	if len(q.Models) == 0 {
		return fmt.Sprintf("--answer %s=TEXT, in the model's place; no model is configured (--models)", key)
	}
	return fmt.Sprintf("--approve %s[=MODEL], which sends the request to %s; or --answer %s=TEXT, in the model's place", key, strings.Join(modelNames(q.Models), " or "), key)
}
