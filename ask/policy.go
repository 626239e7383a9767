package ask

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Policy limits what photons may ask. The zero Policy only rejects forms that
// ask for secrets.
type Policy struct {
	// Timeout is how long a question without a timeout of its own may stay open; 0
	// means no limit.
	Timeout time.Duration
	// OpenPerRun and OpenPerOwner limit how many questions may be open at once; 0
	// means no limit.
	OpenPerRun   int
	OpenPerOwner int
}

// A PolicyError reports that a question may not be asked. Its text says how to
// change it.
type PolicyError struct{ Reason string }

func (e *PolicyError) Error() string { return "this question may not be asked: " + e.Reason }

// Admit returns a [*PolicyError] if the question may not be asked while that many
// others are open.
func (p Policy) Admit(q *Question, openInRun, openOfOwner int) error {
	if p.OpenPerRun > 0 && openInRun >= p.OpenPerRun {
		return &PolicyError{fmt.Sprintf("the run already has %d open questions, the most that are allowed", openInRun)}
	}
	if p.OpenPerOwner > 0 && openOfOwner >= p.OpenPerOwner {
		return &PolicyError{fmt.Sprintf("this person already has %d open questions, the most that are allowed", openOfOwner)}
	}
	if admit := q.Kind.rules().admit; admit != nil {
		return admit(q)
	}
	return rejectSecretFields(q.Fields)
}

// TimeoutOf returns how long a question may stay open: its own timeout, or else the
// policy's. 0 means no limit.
func (p Policy) TimeoutOf(q *Question) time.Duration {
	return cmp.Or(time.Duration(q.Timeout), p.Timeout)
}

// rejectSecretFields returns a [*PolicyError] for a field that asks for a secret in
// the clear.
func rejectSecretFields(form Fields) error {
	for _, f := range form {
		if f.Type == "boolean" || len(f.Choices) > 0 {
			continue
		}
		for _, name := range []string{f.Name, f.Title} {
			if word := cachedSecretWord(name, f.Type); word != "" {
				return &PolicyError{fmt.Sprintf("the field %q asks for a secret (%s), and answers to forms are recorded in the clear: use ask.Secret", f.Name, word)}
			}
		}
	}
	return nil
}

// Words that name secrets. Those of secretTextNames do so only for a text field: a
// number of tokens is not a token.
var (
	secretNames = withPlurals("password", "pass word", "passwd", "passphrase", "pass phrase", "passcode", "pwd",
		"card number", "cardnumber", "credit card", "creditcard", "cvv", "cvc",
		"pin code", "pincode", "pin number", "social security", "ssn")
	secretTextNames = withPlurals("secret", "token", "credential", "bearer",
		"api key", "apikey", "access key", "accesskey", "private key", "privatekey", "secret key", "secretkey",
		"accesstoken", "authtoken", "apitoken", "refreshtoken", "clientsecret")
	// secretSubstrings name a secret within a longer word too, as in userpassword.
	secretSubstrings = []string{"password", "passwd", "passphrase", "passcode"}
)

func withPlurals(names ...string) map[string]bool {
	all := make(map[string]bool)
	for _, n := range names {
		all[n], all[n+"s"] = true, true
	}
	return all
}

// secretWords caches the results of findSecretWord: a program asks for few names.
var secretWords struct {
	sync.RWMutex
	words map[secretWordKey]string
}

type secretWordKey struct{ name, fieldType string }

// The cache is cleared when it holds maxSecretWords entries. It holds no name
// longer than maxCachedName bytes.
const (
	maxSecretWords = 4096
	maxCachedName  = 100
)

// cachedSecretWord returns the one or two words of a name that name a secret, or
// the empty string.
func cachedSecretWord(name, fieldType string) string {
	key := secretWordKey{name, fieldType}
	secretWords.RLock()
	word, known := secretWords.words[key]
	secretWords.RUnlock()
	if known {
		return word
	}
	word = findSecretWord(name, fieldType)
	if len(name) <= maxCachedName {
		secretWords.Lock()
		defer secretWords.Unlock()
		if secretWords.words == nil || len(secretWords.words) >= maxSecretWords {
			secretWords.words = make(map[secretWordKey]string)
		}
		secretWords.words[key] = word
	}
	return word
}

func findSecretWord(name, fieldType string) string {
	words := splitWords(name)
	for i, word := range words {
		pair := ""
		if i > 0 {
			pair = words[i-1] + " " + word
		}
		for _, w := range []string{word, pair} {
			if secretNames[w] || fieldType == "string" && secretTextNames[w] {
				return w
			}
		}
		for _, w := range secretSubstrings {
			if strings.Contains(word, w) {
				return w
			}
		}
	}
	if len(words) == 1 && words[0] == "pin" {
		return "pin"
	}
	return ""
}

// splitWords splits a name into lower-case words. It splits apiKey, APIKey, api_key
// and "API key" into api and key.
func splitWords(name string) []string {
	var b strings.Builder
	last := rune(0)
	for i, r := range name {
		_, size := utf8.DecodeRuneInString(name[i:])
		if i > 0 && startsWord(last, r, name[i+size:]) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return strings.Fields(b.String())
}

// startsWord reports whether a word starts at r: after a character that is neither
// letter nor digit, between letters and digits, and at an upper-case letter that
// follows a lower-case one or precedes one (the P of APIPath).
func startsWord(last, r rune, rest string) bool {
	switch {
	case !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return true
	case unicode.IsDigit(r) != unicode.IsDigit(last):
		return true
	case unicode.IsUpper(r):
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLower(last) || unicode.IsLower(next) && unicode.IsUpper(last)
	}
	return !unicode.IsLetter(last) && !unicode.IsDigit(last)
}
