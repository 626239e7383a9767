package controls

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rule"
)

// A fieldProblem is a field's error as the page shows it.
type fieldProblem struct {
	sentence    string // what to do, as in "Enter a name"
	statesRules bool   // the sentence says what the field's hint says
}

// problems returns the field's errors, each of which is said once.
func (c *Control) problems() []fieldProblem {
	var list []fieldProblem
	for _, e := range c.errors {
		if p := c.problem(e); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// errorSentences returns the field's errors in sentences.
func (c *Control) errorSentences() []string {
	var sentences []string
	for _, p := range c.problems() {
		sentences = append(sentences, p.sentence)
	}
	return sentences
}

func (c *Control) problem(e generators.FieldError) fieldProblem {
	rules := c.rules()
	switch {
	case c.Kind == form.Choice && c.Variant < 0 && isMissing(e):
		return fieldProblem{"Choose " + c.noun(), false}
	case c.Kind != form.Control:
		label := quoteSentence(c.Label())
		if below, ok := strings.CutPrefix(e.Path, c.Pointer+"/"); ok {
			label += ", " + below + ","
		}
		return fieldProblem{strings.TrimSuffix(driver.Sentence(e, label), "."), false}
	case c.widget == checkboxes && c.MinItems+c.MaxItems > 0:
		return fieldProblem{"Choose " + c.countedNoun(), true}
	case c.widget == checkboxes, c.widget == radios, c.widget == selectWidget:
		return fieldProblem{"Choose " + c.noun(), false}
	case isMissing(e):
		return fieldProblem{"Enter " + c.noun(), false}
	case c.widget == "number":
		return fieldProblem{"Enter " + c.numberNoun(e), true}
	case e.Rule == rule.MinLength, e.Rule == rule.MaxLength:
		return fieldProblem{"Enter " + c.noun() + " of " + c.lengthRule() + "; this one has " + e.Got, c.PatternHint == ""}
	case e.Rule == rule.Earliest, e.Rule == rule.Latest:
		return fieldProblem{"Enter " + c.noun() + " " + rules, true}
	}
	if noun, example := c.example(e); example != "" {
		return fieldProblem{"Enter " + c.nounOfFormat(noun) + ", such as " + example, false}
	}
	label := quoteSentence(c.Label())
	if c.LabelledBy != "" {
		label = answerLabel
	}
	return fieldProblem{strings.TrimSuffix(driver.Sentence(e, label), "."), e.Rule == rule.Pattern && c.PatternHint != ""}
}

// example returns the noun for the values that an error asks for, and one of them: from
// the field's own hint, if it has one.
func (c *Control) example(e generators.FieldError) (noun, example string) {
	if e.Rule == rule.Pattern && e.Message == c.PatternHint {
		noun, example, _ = strings.Cut(strings.TrimPrefix(c.PatternHint, "must be "), ", such as ")
		return noun, example
	}
	return rule.Example(e.Rule, e.Want)
}

// isMissing reports whether an error says that a value is missing.
func isMissing(e generators.FieldError) bool {
	return e.Rule == rule.Required || e.Rule == rule.MinLength && e.Want == "1"
}

// numberNoun returns the number to enter: "an age from 18 to 120".
func (c *Control) numberNoun(e generators.FieldError) string {
	noun := c.noun()
	if c.LabelledBy != "" {
		noun = "a number"
	}
	rules := c.rules()
	name := nounOf(c.Label())
	many := c.LabelledBy == "" && isPlural(name)
	wantsWhole := e.Rule == rule.Type && slices.Contains(strings.Split(e.Want, ","), "integer")
	switch {
	case wantsWhole && many:
		noun = "a whole number of " + name
	case wantsWhole:
		noun = "a whole number"
	case many && rules != "":
		bounds, steps, _ := strings.Cut(rules, ", ")
		return strings.TrimSuffix(strings.TrimPrefix(bounds, "from ")+" "+name+", "+steps, ", ")
	}
	switch {
	case rules == "":
		return noun
	case strings.HasPrefix(rules, "from "), strings.HasPrefix(rules, "in "):
		return noun + " " + rules
	default:
		return noun + " of " + rules
	}
}

// nounOfFormat returns what to enter in a format, whose noun is "an email address".
func (c *Control) nounOfFormat(noun string) string {
	if label := c.noun(); c.LabelledBy == "" && !strings.Contains(label, "“") && c.Format != askdata.FormatTime {
		return label
	}
	return noun
}

// countedNoun returns how many choices to make: "1 or 2 topics".
func (c *Control) countedNoun() string {
	name := nounOf(c.Label())
	if c.LabelledBy != "" {
		name = ""
	}
	switch {
	case name != "" && isPlural(name):
		if c.MinItems == 1 && c.MaxItems == 0 {
			return "one or more " + name
		}
		return FormatRange(c.MinItems, c.MaxItems, name, name)
	case name != "":
		return FormatRange(c.MinItems, c.MaxItems, "choice", "choices") + " under “" + c.Label() + "”"
	}
	return FormatRange(c.MinItems, c.MaxItems, "answer", "answers")
}

// noun returns what to enter or choose: "a name", "an answer".
func (c *Control) noun() string {
	if c.LabelledBy != "" {
		return "an answer"
	}
	name := nounOf(c.Label())
	switch {
	case c.Label() == "":
		return "a value"
	case c.Row && name != "":
		return name
	case name == "" && strings.HasSuffix(c.Label(), "?"):
		return "an answer to “" + c.Label() + "”"
	case name == "":
		return "a value for “" + strings.TrimSuffix(c.Label(), ":") + "”"
	case isPlural(name) && c.widget == "number":
		return "the number of " + name
	case isPlural(name), strings.HasPrefix(name, "your "), strings.HasPrefix(name, "the "):
		return name
	case startsWithVowelSound(name):
		return "an " + name
	}
	return "a " + name
}

// maxNoun is the length of a label, in bytes, that can be part of a sentence.
const maxNoun = 40

// nounOf returns a label as part of a sentence; empty if it isn't a noun.
func nounOf(label string) string {
	label = strings.TrimSuffix(label, ":")
	words := strings.Fields(label)
	if len(words) == 0 || len(label) > maxNoun || strings.ContainsFunc(label, isSentenceMark) ||
		slices.Contains(prepositions, strings.ToLower(words[len(words)-1])) {
		return ""
	}
	first, size := utf8.DecodeRuneInString(label)
	if next, _ := utf8.DecodeRuneInString(label[size:]); unicode.IsUpper(next) {
		return label // an abbreviation
	}
	return string(unicode.ToLower(first)) + label[size:]
}

var prepositions = []string{"at", "by", "for", "from", "in", "of", "on", "to", "with"}

func isSentenceMark(r rune) bool { return strings.ContainsRune("?!.,;:()[]{}“”\"/=", r) }

// isPlural guesses whether an English noun is a plural.
func isPlural(noun string) bool {
	if head, _, ok := strings.Cut(noun, " of "); ok {
		noun = head
	}
	if noun == "people" || noun == "children" {
		return true
	}
	return strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss") && !strings.HasSuffix(noun, "us") && !strings.HasSuffix(noun, "is")
}

// startsWithVowelSound guesses whether an English noun takes "an".
func startsWithVowelSound(noun string) bool {
	for _, prefix := range []string{"use", "uni", "uri", "eu", "one", "URI", "URL", "UTC", "UUID", "ID"} {
		if strings.HasPrefix(noun, prefix) {
			return prefix == "ID"
		}
	}
	if first, size := utf8.DecodeRuneInString(noun); unicode.IsUpper(first) {
		next, _ := utf8.DecodeRuneInString(noun[size:])
		return strings.ContainsRune("AEFHILMNORSX", first) && !unicode.IsLower(next)
	}
	return strings.HasPrefix(noun, "hour") || strings.ContainsRune("aeiou", rune(noun[0]))
}

// errorHeading says how many fields, or problems if some belong to no field, the
// person must fix; empty if there are none.
func errorHeading(list []*Control, other, files []string) string {
	n := len(everyError(list))
	if len(files) > 0 {
		n++
	}
	switch {
	case len(other) > 0:
		return "Fix " + humanize.CountOf(n+len(other), "problem", "problems")
	case n > 0:
		return "Fix " + humanize.CountOf(n, "field", "fields")
	}
	return ""
}

// FileSentence returns an error in the uploaded files as a sentence.
func FileSentence(e generators.FieldError) string {
	if e.Rule == rule.Required {
		return "Choose a file"
	}
	return strings.TrimSuffix(driver.Sentence(e, answerLabel), ".")
}
