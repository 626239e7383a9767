package lists

import "strings"

// Words are the words of a search, in lower case.
type Words []string

// NewWords returns the words of a text.
func NewWords(text string) Words { return strings.Fields(strings.ToLower(text)) }

// Match reports whether the texts have all words, in upper or lower case.
func (w Words) Match(texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	for _, word := range w {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
