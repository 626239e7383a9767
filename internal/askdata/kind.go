package askdata

import (
	"encoding/json"
	"slices"
)

// Kind is the kind of a question.
type Kind string

// The kinds of questions.
const (
	KindText        Kind = "text"
	KindSecret      Kind = "secret"
	KindConfirm     Kind = "confirm"
	KindSelect      Kind = "select"
	KindMultiSelect Kind = "multiselect"
	KindNumber      Kind = "number"
	KindInteger     Kind = "integer"
	KindDate        Kind = "date"
	KindDateTime    Kind = "datetime"
	KindFile        Kind = "file"
	KindForm        Kind = "form"
	KindURL         Kind = "url"
	KindSample      Kind = "sample" // a request to a model
	KindRoots       Kind = "roots"
)

// kindRules are the rules of one kind of question.
type kindRules struct {
	kind Kind
	// field is the template of the only field, of kinds that have just one. Such
	// a question takes the options for fields.
	field Field
	// onPage marks a kind that is answered only on Beam's own page.
	onPage bool
	// validate checks a question that is about to be asked. Nil checks its fields.
	validate func(q *Question) error
	// admit returns why a question may not be asked, or "". Nil rejects fields that ask
	// for a secret in the clear.
	admit func(q *Question) (reason string)
	// check validates an accepted answer and returns it in the form to be
	// recorded. Nil checks its content against the fields.
	check func(q *Question, a Answer) (Answer, error)
}

// kindTable lists every kind once. A new kind is a constant, an entry here, and a
// function that asks.
var kindTable = []kindRules{
	{kind: KindText, field: Field{Type: "string"}},
	{kind: KindSecret, field: Field{Type: "string", Format: FormatSecret}, onPage: true, admit: admitAny},
	{kind: KindConfirm, field: Field{Type: "boolean"}},
	{kind: KindSelect, field: Field{Type: "string"}},
	{kind: KindMultiSelect, field: Field{Type: "array"}},
	{kind: KindNumber, field: Field{Type: "number"}},
	{kind: KindInteger, field: Field{Type: "integer"}},
	{kind: KindDate, field: Field{Type: "string", Format: "date"}},
	{kind: KindDateTime, field: Field{Type: "string", Format: "date-time"}},
	{kind: KindFile, onPage: true, validate: validateFile, admit: admitFile, check: checkFileAnswer},
	{kind: KindForm},
	{kind: KindURL, check: checkConsent},
	{kind: KindSample, validate: validateAny, admit: admitSample, check: checkContent((*Question).checkSample)},
	{kind: KindRoots, check: checkContent((*Question).checkRoots)},
}

// The kinds that take the options of package ask for texts, and for numbers.
var (
	TextKinds   = []Kind{KindText, KindSecret}
	NumberKinds = []Kind{KindNumber, KindInteger}
)

// Kinds returns the kinds of questions. The set is closed: every surface has a
// rendering for each.
func Kinds() []Kind {
	kinds := make([]Kind, len(kindTable))
	for i := range kindTable {
		kinds[i] = kindTable[i].kind
	}
	return kinds
}

// rules returns the rules of the kind. A kind that is not in the table has the
// rules of a form.
func (k Kind) rules() *kindRules {
	i := slices.IndexFunc(kindTable, func(r kindRules) bool { return r.kind == k })
	if i < 0 {
		return &kindRules{kind: k}
	}
	return &kindTable[i]
}

// Field returns the template of the only field of the kind's questions. It reports false
// if they have none, or several.
func (k Kind) Field() (Field, bool) {
	f := k.rules().field
	return f, f.Type != ""
}

// admitAny admits a question for a secret.
func admitAny(*Question) string { return "" }

func validateFile(q *Question) error { return q.File.validate() }

func admitFile(q *Question) string {
	if q.File == nil {
		return "a file question needs rules: use ask.File"
	}
	return ""
}

// validateAny leaves it to package ask to validate the request of a sampling question.
func validateAny(*Question) error { return nil }

func admitSample(q *Question) string {
	if q.Sample == nil {
		return "a sampling question needs a request: use ask.Sample"
	}
	return q.Fields.SecretRefusal()
}

// checkConsent accepts without content.
func checkConsent(*Question, Answer) (Answer, error) { return Answer{Action: Accept}, nil }

func checkFileAnswer(q *Question, a Answer) (Answer, error) {
	if err := q.File.checkFiles(a.Files); err != nil {
		return a, err
	}
	files := slices.Clone(a.Files)
	for i := range files {
		files[i].Name = CleanName(files[i].Name)
	}
	return Answer{Action: Accept, Files: files}, nil
}

// checkContent returns a check for answers that consist of content.
func checkContent(check func(*Question, json.RawMessage) (json.RawMessage, error)) func(*Question, Answer) (Answer, error) {
	return func(q *Question, a Answer) (Answer, error) {
		content, err := check(q, a.Content)
		if err != nil {
			return a, err
		}
		return Answer{Action: Accept, Content: content}, nil
	}
}

// checkFieldsAnswer is the check of kinds that have no other.
var checkFieldsAnswer = checkContent(func(q *Question, content json.RawMessage) (json.RawMessage, error) {
	return q.Fields.Check(content)
})
