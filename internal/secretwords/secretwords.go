// Package secretwords reports whether a form asks for a secret, by its words.
//
// It is a list of words (phrases.go) and this rule: a text asks for a secret if it has one of
// secrets; one of named, if the text is the name of a field for text, asks for what is yours,
// or has it near one of asks; one of things or codes together with one of sources; or one of
// codes that was sent. What is harmless is left out of each clause before, and so is a secret
// of which it means an aspect.
// Texts are compared as they look: by [cleantext.Skeleton], however their words are joined.
//
// A list is never whole. It is there to stop who asks carelessly, and makes it harder for
// who doesn't want to be understood.
package secretwords

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"github.com/photon-beam/beam/internal/cleantext"
)

// InName returns the words for which the name or title of a field asks for a secret, or "".
// isText says that the field is for text: a number of tokens is no token.
func InName(name string, isText bool) string {
	return find(name, func(t text) string {
		word := t.findIn(secrets)
		if word == "" && (isText || len(t.words) == 1 && t.words[0] == "pin") {
			word = t.findIn(named)
		}
		if word == "" && isText {
			word = t.findPair()
		}
		return word
	})
}

// InText returns the words for which a description or a message asks for a secret, or "".
func InText(s string) string {
	return find(leaveOutWarnings(s), func(t text) string {
		word := t.findIn(secrets)
		if word == "" {
			word = t.findPair()
		}
		if word == "" && t.findIn(yours) != "" {
			word = t.findIn(named)
		}
		if word == "" {
			word = t.findAsked()
		}
		return word
	})
}

// leaveOutWarnings removes what tells people not to enter a secret, unless it goes on to
// say which one they shall.
func leaveOutWarnings(s string) string {
	return warning.ReplaceAllStringFunc(s, func(w string) string {
		if exception.MatchString(w) {
			return w
		}
		return "."
	})
}

var (
	warning   = regexp.MustCompile(`(?i)\b(?:do not|don['’]?t|never)\s+(?:give|enter|share|send|type|paste|include|provide|tell|disclose)\b[^.!?;:()\n]*`)
	exception = regexp.MustCompile(`(?i)\b(?:but|except|only|other\s+than|unless|besides|apart|until|without|and|then)\b`)
)

// maxText is how much of a text is read, in bytes.
const maxText = 64 << 10

// find applies a rule to a text, and to what it says if digits and signs stand for letters.
func find(s string, rule func(text) string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	if word := rule(newText(s)); word != "" {
		return word
	}
	if letters := asLetters.Replace(s); letters != s {
		t := newText(letters)
		return t.findIn(secrets) // what is spelled so is no accident, and "5 10 15" no word
	}
	return ""
}

var asLetters = strings.NewReplacer("0", "o", "1", "l", "3", "e", "4", "a", "5", "s", "@", "a", "$", "s")

// A text is what is searched.
type text struct {
	words  []string
	joined string
}

func newText(s string) text {
	var t text
	for _, clause := range clauseEnd.Split(s, -1) {
		c := text{words: Split(clause)}
		c.leaveOut(harmless)
		c.leaveOutAspects()
		t.words = append(t.words, c.words...)
	}
	t.joined = strings.Join(t.words, "")
	return t
}

// clauseEnd ends what can be harmless together: "your token: type it here" has no token type.
var clauseEnd = regexp.MustCompile(`[.,:;?!…]\s|[。，、：；？！\n]|\s[-–—(]`)

// findPair finds a thing or a code and a source of it, or a code that was sent.
func (t text) findPair() string {
	code, source := t.findIn(codes), t.findIn(sources)
	if thing := cmp.Or(code, t.findIn(things)); thing != "" && source != "" && thing != source {
		return thing + ", " + source
	}
	if sent := t.findIn(sent); code != "" && sent != "" {
		return code + ", " + sent
	}
	return ""
}

// findAsked finds what is named near a word that asks for it.
func (t text) findAsked() string {
	found := ""
	t.each(asks, func(from, to int, _ string) bool {
		near := text{words: t.words[max(0, from-nearby):min(to+1+nearby, len(t.words))]}
		near.each(named, func(_, _ int, word string) bool { found = word; return false })
		return found == ""
	})
	return found
}

// nearby is how many words are near another.
const nearby = 3

// findIn returns the first phrase of a list that the text has, or "".
func (t text) findIn(l phrases) string {
	found := ""
	t.each(l, func(_, _ int, phrase string) bool { found = phrase; return false })
	if found != "" {
		return found
	}
	for _, p := range l.unspaced {
		if strings.Contains(t.joined, p.letters) {
			return p.shown
		}
	}
	return ""
}

// leaveOut removes the phrases of a list. Others don't reach over the gap.
func (t *text) leaveOut(l phrases) {
	t.each(l, func(from, to int, _ string) bool {
		t.blank(from, to)
		return true
	})
	for i, w := range t.words {
		for _, p := range l.unspaced {
			w = strings.ReplaceAll(w, p.letters, gap)
		}
		t.words[i] = w
	}
	if joined := strings.Join(t.words, ""); len(l.unspaced) > 0 { // a phrase whose words are apart
		for _, p := range l.unspaced {
			if strings.Contains(joined, p.letters) {
				t.words = []string{strings.ReplaceAll(joined, p.letters, gap)}
				joined = t.words[0]
			}
		}
	}
}

// leaveOutAspects removes secrets that an aspect follows, with it.
func (t *text) leaveOutAspects() {
	t.each(aspects, func(from, to int, _ string) bool {
		for i := max(0, from-maxWords); i < from; i++ {
			joined, single := strings.Join(t.words[i:from], ""), i == from-1
			if secrets.match(joined, single) != "" || named.match(joined, single) != "" {
				t.blank(i, to)
				break
			}
		}
		return true
	})
}

// maxWords is how many words of a secret are looked for before an aspect.
const maxWords = 4

func (t *text) blank(from, to int) {
	for i := from; i <= to; i++ {
		t.words[i] = gap
	}
}

// gap stands for what is left out.
const gap = "\x00"

// each calls f with the first and the last word of each place where the text has a phrase of
// the list, the longest of each beginning, until f returns false.
func (t text) each(l phrases, f func(from, to int, phrase string) bool) {
	for i := 0; i < len(t.words); i++ {
		joined, phrase, to := "", "", 0
		for j := i; j < len(t.words) && len(joined) <= l.longest; j++ {
			joined += t.words[j]
			if p := l.match(joined, j == i); p != "" {
				phrase, to = p, j
			}
		}
		if phrase == "" {
			continue
		}
		if !f(i, to, phrase) {
			return
		}
		i = to
	}
}

// phrases is a list of phrases.
type phrases struct {
	whole    map[string]string // what is shown of them, by their letters
	begins   []phrase          // also begin longer words
	parts    []phrase          // are also within longer words
	unspaced []phrase          // of scripts without spaces: are anywhere
	longest  int               // bytes
}

type phrase struct{ letters, shown string }

// match returns the phrase that words, whose letters are joined, are; single says that they
// are one word.
func (l *phrases) match(joined string, single bool) string {
	for _, s := range []string{joined, strings.TrimSuffix(joined, "s"), strings.TrimRight(joined, "0123456789")} {
		if shown, ok := l.whole[s]; ok {
			return shown
		}
	}
	for _, p := range l.begins {
		if strings.HasPrefix(joined, p.letters) && len(joined) < len(p.letters)+maxEnding {
			return p.shown
		}
	}
	if single {
		for _, p := range l.parts {
			if strings.Contains(joined, p.letters) {
				return p.shown
			}
		}
	}
	return ""
}

// maxEnding is how many bytes longer a word may be than its beginning.
const maxEnding = 12

// list reads a list of phrases.go.
func list(source string) phrases {
	l := phrases{whole: make(map[string]string)}
	for _, item := range strings.FieldsFunc(source, func(r rune) bool { return r == ',' || r == '\n' }) {
		item = strings.ToLower(strings.TrimSpace(item))
		l.add(item)
		if spelled := withoutUmlauts.Replace(item); spelled != item {
			l.add(spelled)
		}
	}
	return l
}

var withoutUmlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")

func (l *phrases) add(item string) {
	shown := strings.Trim(item, "*")
	p := phrase{strings.Join(Split(shown), ""), shown}
	switch {
	case item == "":
	case strings.HasPrefix(item, "*") && strings.IndexFunc(shown, isUnspaced) >= 0:
		l.unspaced = append(l.unspaced, p)
	case strings.HasPrefix(item, "*"):
		l.parts = append(l.parts, p)
		l.whole[p.letters] = p.shown
	case strings.HasSuffix(item, "*"):
		l.begins = append(l.begins, p)
	default:
		l.whole[p.letters] = p.shown
	}
	l.longest = max(l.longest, len(p.letters)+maxEnding)
}

// isUnspaced reports whether a letter is of a script that has no spaces between words, or
// joins and inflects them so that they can't be told apart.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Arabic, unicode.Hebrew, unicode.Devanagari)
}

// Split returns the words of a text as they look, in lower case: those of "apiKey", "APIKey",
// "api_key", "api-key" and "API key" are api and key.
func Split(s string) []string {
	var b strings.Builder
	letters := append([]rune(s), ' ')
	last := ' '
	for i, r := range letters[:len(letters)-1] {
		if startsWord(last, r, letters[i+1]) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return strings.FieldsFunc(cleantext.Skeleton(b.String()), func(r rune) bool { return !isPart(r) })
}

func isPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// startsWord reports whether a word starts at r: between letters and digits, and at an
// upper-case letter that follows a lower-case one, or precedes one (the P of APIPath).
func startsWord(last, r, next rune) bool {
	switch {
	case !isPart(r) || !isPart(last):
		return false // what is between them divides them
	case unicode.IsDigit(r) != unicode.IsDigit(last):
		return true
	case unicode.IsUpper(r):
		return unicode.IsLower(last) || unicode.IsLower(next) && unicode.IsUpper(last)
	}
	return false
}
