package term

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"charm.land/huh/v2"

	"github.com/photon-beam/beam/internal/askdata"
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

// askKinds has every kind of question; see [askdata.Kinds].
var askKinds = map[askdata.Kind]askKind{
	askdata.KindText:        {},
	askdata.KindSecret:      {howToAnswer: howToAnswerSecret, told: hiddenValue},
	askdata.KindConfirm:     {},
	askdata.KindSelect:      {},
	askdata.KindMultiSelect: {},
	askdata.KindNumber:      {},
	askdata.KindInteger:     {},
	askdata.KindDate:        {},
	askdata.KindDateTime:    {},
	askdata.KindFile:        {files: true, control: (*fieldValues).fileField, lines: (*Lines).askPaths, texts: filesAnswer, value: filesFromJSON, howToAnswer: howToAnswerFile},
	askdata.KindForm:        {},
	askdata.KindURL:         {control: (*fieldValues).urlField, lines: (*Lines).askURL, texts: consentFromTexts, value: consentFromJSON, howToAnswer: howToAnswerURL, told: "agreed"},
	askdata.KindSample:      {lenient: true, howToAnswer: howToAnswerSample},
	askdata.KindRoots:       {lenient: true},
}

// hiddenValue stands for a secret.
const hiddenValue = "••••••"

// does returns what the terminal does with the question.
func (q *Question) does() askKind { return askKinds[q.Kind] }

func filesAnswer(paths []string) (runs.Answer, error) {
	return runs.Answer{Action: askdata.Accept, Files: paths}, nil
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
		return runs.Answer{Action: askdata.Accept}, nil
	case "false":
		return runs.Answer{Action: askdata.Decline}, nil
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
