package ui

import "strings"

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
