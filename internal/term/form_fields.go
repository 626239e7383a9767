package term

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"charm.land/huh/v2"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/term/render"
)

// fieldValues are the values of a question's fields while they are typed. They survive the
// form, which may be left and shown again.
type fieldValues struct {
	question *Question
	invalid  *generators.InvalidError
	texts    []string   // of each field
	lists    [][]string // of each field with several choices
	bools    []bool     // of each checkbox
	consent  string     // of a question that is guarded or has no fields: consentYes, consentNo, or none yet
	approval *approval  // of a question to a model; nil if there are none
	path     string     // of a file; several are separated by line feeds
}

func newFieldValues(q *Question, invalid *generators.InvalidError) *fieldValues {
	n := len(q.Fields)
	v := &fieldValues{question: q, invalid: invalid, texts: make([]string, n), lists: make([][]string, n), bools: make([]bool, n)}
	for i := range q.Fields {
		defaults := defaultTexts(&q.Fields[i])
		v.lists[i] = defaults
		if len(defaults) > 0 {
			v.texts[i] = localText(&q.Fields[i], defaults[0])
			v.bools[i] = defaults[0] == "true"
		}
	}
	if len(q.Models) > 0 && q.Sample != nil {
		v.approval = newApproval(q)
	}
	return v
}

// localText returns a value as a person types it: a time in the local zone.
func localText(f *askdata.Field, text string) string {
	if t, err := time.Parse(time.RFC3339, text); err == nil && f.Format == "date-time" {
		return t.Local().Format("2006-01-02 15:04")
	}
	return text
}

// form returns a form for the question. Its message is shown above the form.
func (v *fieldValues) form() *huh.Form {
	if v.approval != nil {
		return v.sampleForm()
	}
	var fields []huh.Field
	if control := v.question.does().control; control != nil {
		fields = append(fields, control(v))
	} else {
		for i := range v.question.Fields {
			fields = append(fields, v.field(i))
		}
	}
	if len(fields) == 0 {
		fields = append(fields, v.consentField("Accept", "Decline"))
	}
	return huh.NewForm(huh.NewGroup(fields...))
}

// What a person has chosen of a yes and a no that have no default.
const (
	consentYes      = "yes"
	consentUnopened = "unopened"
	consentNo       = "no"
)

func (v *fieldValues) setConsent(yes bool) {
	if v.consent = consentNo; yes {
		v.consent = consentYes
	}
}

// consentField returns a field for a yes or no of which neither is selected at first.
func (v *fieldValues) consentField(yes, no string) *huh.Select[string] {
	v.consent = ""
	return selectWithoutDefault(&v.consent, huh.NewOption(cleantext.Line(yes), consentYes), huh.NewOption(cleantext.Line(no), consentNo))
}

// urlField returns a field for the consent to open an address, which can't be opened here: the
// person says whether it was.
func (v *fieldValues) urlField() huh.Field {
	v.consent = ""
	opened, unopened := "I have opened it, and agree", "I haven't opened it; continue anyway"
	if v.question.UntilDone {
		opened, unopened = "I have opened it, and I'm done", "I haven't opened it here, but I'm done"
	}
	return selectWithoutDefault(&v.consent, huh.NewOption(opened, consentYes), huh.NewOption(unopened, consentUnopened), huh.NewOption("Decline", consentNo))
}

// selectWithoutDefault returns a field for a choice of which Enter alone chooses nothing.
func selectWithoutDefault(value *string, options ...huh.Option[string]) *huh.Select[string] {
	options = append([]huh.Option[string]{huh.NewOption("(nothing chosen)", "")}, options...)
	return huh.NewSelect[string]().Options(options...).Value(value).Height(min(len(options), maxRows) + 2).Validate(func(chosen string) error {
		if chosen == "" {
			return errors.New("choose with the arrow keys, then press Enter")
		}
		return nil
	})
}

// sampleForm returns a form for a question to a model: it asks first which model the request
// is sent to, whether it is changed before, or whether the person answers.
func (v *fieldValues) sampleForm() *huh.Form {
	v.approval.choice = ""
	choice := selectWithoutDefault(&v.approval.choice, v.approval.options()...).Title("Send this request to")
	groups := append([]*huh.Group{huh.NewGroup(choice)}, v.approval.groups()...)
	for i := range v.question.Fields {
		groups = append(groups, huh.NewGroup(v.field(i)).WithHideFunc(func() bool { return v.approval.choice != choiceAnswer }))
	}
	return huh.NewForm(groups...)
}

// heading returns what is above the fields: the question, and what was wrong with the last
// answer.
func (v *fieldValues) heading(style render.Styles) func(width int) string {
	return func(width int) string {
		text := v.question.heading(style, width)
		if v.invalid != nil {
			for _, f := range v.invalid.Fields {
				text += style.Paint(render.Red, "✗ "+render.Wrap(cleantext.Line(driver.Sentence(f, "")), width-2)) + "\n"
			}
		}
		return text
	}
}

// title returns the label of a field, which repeats a question with one field only if it
// says more.
func (v *fieldValues) title(f *askdata.Field) string {
	if len(v.question.Fields) == 1 && f.Title == "" {
		return ""
	}
	title := cleantext.Line(f.Label())
	if !f.Required && len(v.question.Fields) > 1 && f.Type != "boolean" {
		title += " (optional)"
	}
	return title
}

// field returns the form's field for one of the question's.
func (v *fieldValues) field(i int) huh.Field {
	f := &v.question.Fields[i]
	title, description := v.title(f), cleantext.Text(f.Description)
	switch {
	case f.Type == "boolean":
		yes, no := "Yes", "No"
		if form.IsConfirmation(v.question.Question) {
			yes, no = form.ConfirmLabels(v.question.Question)
		}
		if v.question.isGuarded() {
			return v.consentField(yes, no).Title(title).Description(description)
		}
		return huh.NewConfirm().Title(title).Description(description).Affirmative(cleantext.Line(yes)).Negative(cleantext.Line(no)).Value(&v.bools[i])
	case f.Type == "array":
		field := huh.NewMultiSelect[string]().Title(title).Description(description).Options(choiceOptions(f)...).Filterable(len(f.Choices) > manyChoices).
			Value(&v.lists[i]).Validate(func([]string) error { return v.check(i) })
		if f.MaxItems > 0 {
			field = field.Limit(f.MaxItems)
		}
		return field.Height(min(len(f.Choices), maxRows) + 2 + lineCount(description))
	case len(f.Choices) > 0:
		return huh.NewSelect[string]().Title(title).Description(description).Options(choiceOptions(f)...).
			Value(&v.texts[i]).Validate(func(string) error { return v.check(i) }).Height(min(len(f.Choices)+1, maxRows) + 2 + lineCount(description))
	case f.Format == askdata.FormatLong:
		return huh.NewText().Title(title).Description(description).Value(&v.texts[i]).Validate(func(string) error { return v.check(i) }).
			ExternalEditor(false).ShowLineNumbers(false)
	}
	input := huh.NewInput().Title(title).Placeholder(exampleOf(f)).Value(&v.texts[i]).Validate(func(string) error { return v.check(i) }).
		DescriptionFunc(func() string { return v.describe(i, description) }, &v.texts[i])
	if f.Format == askdata.FormatSecret {
		input = input.EchoMode(huh.EchoModePassword)
	}
	return input
}

// Choices are filtered with / if there are more than manyChoices; at most maxRows of them
// are shown at once.
const (
	manyChoices = 8
	maxRows     = 10
)

func lineCount(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(text, "\n") + 1
}

func choiceOptions(f *askdata.Field) []huh.Option[string] {
	var options []huh.Option[string]
	if !f.Required && f.Type != "array" {
		options = append(options, huh.NewOption("(none)", ""))
	}
	for _, c := range f.Choices {
		options = append(options, huh.NewOption(cleantext.Line(c.Label()), c.Value))
	}
	return options
}

// describe returns a field's description, and what is wrong with what is typed so far.
func (v *fieldValues) describe(i int, description string) string {
	if v.texts[i] == "" {
		return description
	}
	if err := v.check(i); err != nil {
		return strings.TrimLeft(description+"\n"+err.Error(), "\n")
	}
	return description
}

// check returns what is wrong with the value of a field.
func (v *fieldValues) check(i int) error {
	f := v.question.Fields[i]
	if v.question.does().lenient {
		if f.Required && strings.TrimSpace(v.texts[i]) == "" {
			return errors.New("is required")
		}
		return nil
	}
	if f.Type == "" && strings.TrimSpace(v.texts[i]) != "" {
		if problem := form.SyntaxError(v.texts[i]); problem != "" {
			return errors.New(problem)
		}
		if v.question.CheckJSON != nil {
			return v.question.CheckJSON(f.Name, json.RawMessage(v.texts[i]))
		}
		return nil
	}
	if f.Format == askdata.FormatSecret { // the value is not told
		f.Title = ""
	}
	one := askdata.Fields{f}
	_, err := one.Check(form.Decode(one, url.Values{f.Name: v.values(i)}, time.Local))
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) && len(invalid.Fields) > 0 {
		return errors.New(cleantext.Line(invalid.Fields[0].Message))
	}
	return err
}

// values returns the value of a field as texts.
func (v *fieldValues) values(i int) []string {
	switch f := &v.question.Fields[i]; {
	case f.Type == "boolean" && v.question.isGuarded():
		return []string{strconv.FormatBool(v.consent == consentYes)}
	case f.Type == "boolean":
		return []string{strconv.FormatBool(v.bools[i])}
	case f.Type == "array":
		return v.lists[i]
	}
	return []string{v.texts[i]}
}

// answer returns the answer that the values are.
func (v *fieldValues) answer() (runs.Answer, error) {
	if v.approval != nil {
		if a, ok := v.approval.answer(); ok {
			return a, nil
		}
	}
	switch q := v.question; {
	case q.does().files:
		return filesAnswer(v.paths())
	case len(q.Fields) == 0 && v.consent != consentYes && v.consent != consentUnopened:
		return runs.Answer{Action: askdata.Decline}, nil
	case len(q.Fields) == 0:
		return runs.Answer{Action: askdata.Accept}, nil
	}
	values := url.Values{}
	for i := range v.question.Fields {
		values[v.question.Fields[i].Name] = v.values(i)
	}
	return runs.Answer{Action: askdata.Accept, Content: form.Decode(v.question.Fields, values, time.Local)}, nil
}

// exampleOf returns what a value of the field looks like, for formats that have one.
func exampleOf(f *askdata.Field) string {
	switch f.Format {
	case "date":
		return "2026-12-31"
	case "date-time":
		return "2026-12-31 18:30"
	case askdata.FormatTime:
		return "18:30"
	case "email":
		return "ada@example.com"
	case "uri":
		return "https://example.com"
	}
	return ""
}
