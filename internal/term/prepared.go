package term

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
)

// Prepared are answers that are known before the questions are asked, by the questions'
// keys. The zero value has none.
type Prepared struct {
	texts    map[string][]string        // by key, or by key.field
	values   map[string]json.RawMessage // by key
	declined map[string]bool
	approved map[string]string // the model, or "" for the best one, by key
	used     map[string]bool
	sent     map[string]bool // questions that were approved once
}

// AddText adds key=value, or key.field=value for a field of a form. A second value for the
// same key makes a list.
func (p *Prepared) AddText(pair string) error {
	key, value, found := strings.Cut(pair, "=")
	if !found || key == "" {
		return fmt.Errorf("%q must be KEY=VALUE, or KEY.FIELD=VALUE for a field of a form", pair)
	}
	if p.texts == nil {
		p.texts = make(map[string][]string)
	}
	p.texts[key] = append(p.texts[key], value)
	return nil
}

// AddJSON adds the members of an object: the values of questions, or objects of the values
// of their fields, by key. A null declines the question. AddText takes precedence.
func (p *Prepared) AddJSON(raw []byte) error {
	var members map[string]json.RawMessage
	if rawjson.TypeName(raw) != rawjson.ObjectType || json.Unmarshal(raw, &members) != nil {
		return errors.New(`must be a JSON object of answers by the questions' keys, such as {"name": "Ada", "confirm": true}`)
	}
	if p.values == nil {
		p.values = make(map[string]json.RawMessage)
	}
	for key, value := range members {
		if string(value) == "null" {
			p.AddDecline(key)
			continue
		}
		p.values[key] = value
	}
	return nil
}

// AddDecline declines the question of a key.
func (p *Prepared) AddDecline(key string) {
	if p.declined == nil {
		p.declined = make(map[string]bool)
	}
	p.declined[key] = true
}

// AddApproval sends the question of a key to a model: KEY for the best one, or KEY=MODEL.
func (p *Prepared) AddApproval(text string) error {
	key, model, named := strings.Cut(text, "=")
	if key == "" || named && model == "" {
		return fmt.Errorf("%q must be KEY, or KEY=MODEL", text)
	}
	if p.approved == nil {
		p.approved, p.sent = make(map[string]string), make(map[string]bool)
	}
	p.approved[key] = model
	return nil
}

// Unused returns the keys for which there was no question.
func (p *Prepared) Unused() []string {
	var unused []string
	for _, keys := range [][]string{slices.Collect(maps.Keys(p.texts)), slices.Collect(maps.Keys(p.declined)), slices.Collect(maps.Keys(p.approved))} {
		for _, key := range keys {
			if !p.used[key] {
				unused = append(unused, key)
			}
		}
	}
	slices.Sort(unused)
	return unused
}

// use marks a key as used and returns true.
func (p *Prepared) use(key string) bool {
	if p.used == nil {
		p.used = make(map[string]bool)
	}
	p.used[key] = true
	return true
}

// find returns the answer to a question, and whether there is one. The error says what is
// wrong with it.
func (p *Prepared) find(q *Question) (a runs.Answer, found bool, err error) {
	values, hasTexts := p.textsFor(q)
	value, hasValue := p.values[q.Key]
	model, isApproved := p.approved[q.Key]
	switch {
	case isApproved && p.use(q.Key) && q.Kind != askdata.KindSample:
		return a, true, fmt.Errorf("--approve %s: the question is not for a model; it is of the kind %s", q.Key, q.Kind)
	case isApproved && !p.sent[q.ID]: // a call that has failed is not repeated
		p.sent[q.ID] = true
		return runs.Answer{Action: askdata.Accept, Approve: &sampling.Decision{Model: model}}, true, nil
	case p.declined[q.Key]:
		p.use(q.Key)
		return runs.Answer{Action: askdata.Decline}, true, nil
	case hasTexts:
		a, err = answerFromTexts(q, values)
	case hasValue:
		a, err = answerFromJSON(q, value)
	default:
		return a, false, nil
	}
	if err == nil && a.Action == askdata.Accept && !q.does().files {
		_, err = q.Check(askdata.Answer{Action: a.Action, Content: a.Content})
	}
	if err != nil {
		return a, true, preparedError(q, err)
	}
	return a, true, nil
}

// preparedError returns the error of a prepared answer that isn't valid.
func preparedError(q *Question, err error) error {
	text := err.Error()
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) {
		problems := make([]string, len(invalid.Fields))
		for i, f := range invalid.Fields {
			if f.Path = strings.TrimPrefix(f.Path, "/"); len(q.Fields) == 1 && f.Path == q.Fields[0].Name {
				f.Path = "it"
			}
			problems[i] = strings.TrimSuffix(driver.Sentence(f, ""), ".")
		}
		text = strings.Join(problems, "; ")
	}
	return fmt.Errorf("the prepared answer to %s is not valid: %s", q.Key, text)
}
