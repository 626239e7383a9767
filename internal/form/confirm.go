package form

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rawjson"
)

// ConfirmLabels returns the labels of a confirmation's two buttons: its verbs, or what
// its kind has by default.
func ConfirmLabels(q *askdata.Question) (yes, no string) {
	yes, no = q.Yes, q.No
	switch {
	case yes != "":
	case q.Destructive:
		yes = yesLabelFor(q.Message)
	default:
		yes = "Yes"
	}
	if no == "" {
		no = "No"
	}
	return yes, no
}

// IsConfirmation reports whether a question is a confirmation with its one field.
func IsConfirmation(q *askdata.Question) bool {
	return q.Kind == askdata.KindConfirm && len(q.Fields) == 1
}

// The values of the choice that a confirmation is over MCP.
const (
	confirmYes = "yes"
	confirmNo  = "no"
)

// RequestedSchemaOf returns [RequestedSchema] of a question's form. A confirmation is
// a choice between its two labels; see [ConfirmContent].
func RequestedSchemaOf(q *askdata.Question) json.RawMessage {
	if !IsConfirmation(q) {
		return RequestedSchema(q.Fields)
	}
	yes, no := ConfirmLabels(q)
	f := q.Fields[0]
	f.Type, f.Choices = "string", []askdata.Choice{{Value: confirmYes, Title: yes}, {Value: confirmNo, Title: no}}
	switch string(f.Default) {
	case "true":
		f.Default = rawjson.EncodeText(confirmYes)
	case "false":
		f.Default = rawjson.EncodeText(confirmNo)
	}
	return RequestedSchema(askdata.Fields{f})
}

// RequestedSchemaOf20250618 returns [RequestedSchema20250618] of a question's form.
// That version has no titled choices, so a confirmation is a boolean that its two
// labels explain.
func RequestedSchemaOf20250618(q *askdata.Question) json.RawMessage {
	if !IsConfirmation(q) {
		return RequestedSchema20250618(q.Fields)
	}
	yes, no := ConfirmLabels(q)
	f := q.Fields[0]
	title := yes + " (if not: " + no + ")"
	if f.Title != "" {
		title = f.Title + ": " + title
	}
	f.Title = title
	return RequestedSchema20250618(askdata.Fields{f})
}

// ConfirmContent returns content for [RequestedSchemaOf] as content of the question's
// own fields: a confirmation's choice becomes a boolean. Booleans, and content of other
// questions, stay as they are. The error is a [*generators.InvalidError].
func ConfirmContent(q *askdata.Question, content json.RawMessage) (json.RawMessage, error) {
	if !IsConfirmation(q) || rawjson.TypeName(content) != rawjson.ObjectType {
		return content, nil
	}
	name := q.Fields[0].Name
	value := rawjson.Member(content, name)
	if rawjson.TypeName(value) != rawjson.TextType {
		return content, nil
	}
	yes, no := ConfirmLabels(q)
	text, _ := rawjson.DecodeText(value)
	out := append(rawjson.AppendText([]byte{'{'}, name), ':')
	switch text {
	case confirmYes:
		return append(out, "true}"...), nil
	case confirmNo:
		return append(out, "false}"...), nil
	case yes: // some clients send the title
		return append(out, "true}"...), nil
	case no:
		return append(out, "false}"...), nil
	}
	return nil, &generators.InvalidError{Fields: []generators.FieldError{driver.At(name, "must be yes or no")}}
}

// yesLabelFor returns the label of the button that confirms a destructive question:
// "Yes, delete 3 files" for "Delete 3 files?".
func yesLabelFor(question string) string {
	const otherwise = "Yes, go ahead"
	s, ok := strings.CutSuffix(strings.TrimSpace(question), "?")
	for _, opening := range []string{"Shall I ", "Should I ", "Do you want to ", "Really ", "May I ", "Can I "} {
		s = strings.TrimPrefix(s, opening)
	}
	first, _, _ := strings.Cut(strings.ToLower(s), " ")
	if !ok || s == "" || len(s) > 40 || strings.ContainsAny(s, ".?!\n") || nonVerbs[first] {
		return otherwise
	}
	return "Yes, " + strings.ToLower(s[:1]) + s[1:]
}

// nonVerbs are first words after which a question can't become a label.
var nonVerbs = map[string]bool{
	"are": true, "is": true, "am": true, "do": true, "does": true, "did": true, "have": true, "has": true, "shall": true,
	"should": true, "will": true, "would": true, "can": true, "could": true, "may": true, "might": true, "must": true, "was": true, "were": true,
	"what": true, "which": true, "who": true, "when": true, "where": true, "why": true, "how": true, "ok": true, "okay": true, "i": true, "you": true, "the": true, "this": true, "that": true, "sure": true, "yes": true, "no": true, "want": true,
}
