package ui

import (
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/timeline"
)

func (v *askView) submitLabel() string {
	switch {
	case v.Question.Kind == ask.KindURL && v.Question.UntilDone:
		return "Done"
	case v.Question.Kind == ask.KindURL:
		return "I agree, continue"
	}
	return "Submit"
}

func (v *askView) yesLabel() string {
	switch {
	case v.Question.Yes != "":
		return v.Question.Yes
	case v.Question.Destructive:
		return yesLabelFor(v.Question.Message)
	}
	return "Yes"
}

func (v *askView) noLabel() string {
	if v.Question.No != "" {
		return v.Question.No
	}
	return "No"
}

// acceptAttribute returns the accept attribute of a file input.
func (v *askView) acceptAttribute() string {
	if v.Question.File == nil {
		return ""
	}
	return strings.Join(v.Question.File.Types, ",")
}

// fileHint describes the files that the question accepts.
func (v *askView) fileHint() string {
	rules := v.Question.File
	if rules == nil {
		return "A file"
	}
	var parts []string
	switch {
	case rules.Max > 1 && rules.Min > 1:
		parts = append(parts, formatRange(rules.Min, rules.Max, "file", "files"))
	case rules.Max > 1:
		parts = append(parts, "up to "+humanize.CountOf(rules.Max, "file", "files"))
	}
	if len(rules.Types) > 0 {
		parts = append(parts, strings.Join(rules.Types, ", "))
	}
	if rules.MaxSize > 0 {
		parts = append(parts, "at most "+humanize.Bytes(rules.MaxSize)+eachSuffix(rules.Max))
	}
	return strings.Join(parts, " · ")
}

func eachSuffix(n int) string {
	if n > 1 {
		return " each"
	}
	return ""
}

// fileDescriptionIDs returns the ids of the elements that describe the file input: its
// error, if any, and its hint.
func (v *askView) fileDescriptionIDs() string {
	hint := v.id + "-file-hint"
	if len(v.fileErrors) > 0 {
		return v.id + "-file-error " + hint
	}
	return hint
}

// closedReason describes the outcome of a question in a sentence.
func closedReason(a *timeline.Ask) string {
	outcome := describeOutcome(a)
	if strings.HasPrefix(outcome, "expired") {
		return "This question " + outcome + "."
	}
	return "This question was " + outcome + "."
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
