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

// A Policy bounds what photons may ask. The zero Policy bounds nothing but
// refuses forms that ask for secrets.
type Policy struct {
	// Timeout is how long a question without a time-out of its own may stay
	// open; 0 is for ever.
	Timeout time.Duration
	// OpenPerRun and OpenPerOwner bound the questions open at once; 0 is no
	// bound.
	OpenPerRun   int
	OpenPerOwner int
}

// A PolicyError is a question that may not be asked. Its text says what would
// be right.
type PolicyError struct{ Reason string }

func (e *PolicyError) Error() string { return "this may not be asked: " + e.Reason }

// Admit decides whether a question may be asked, given how many are open
// already. The error is a [*PolicyError].
func (p Policy) Admit(q *Question, openInRun, openOfOwner int) error {
	if p.OpenPerRun > 0 && openInRun >= p.OpenPerRun {
		return &PolicyError{fmt.Sprintf("the run has %d questions open, and no more are allowed", openInRun)}
	}
	if p.OpenPerOwner > 0 && openOfOwner >= p.OpenPerOwner {
		return &PolicyError{fmt.Sprintf("%d questions are open for this person, and no more are allowed", openOfOwner)}
	}
	if admit := q.Kind.rules().admit; admit != nil {
		return admit(q)
	}
	return rejectSecretFields(q.Fields)
}

// TimeoutOf is how long a question may stay open: its own time-out, or else the
// policy's. 0 is for ever.
func (p Policy) TimeoutOf(q *Question) time.Duration {
	return cmp.Or(time.Duration(q.Timeout), p.Timeout)
}

// rejectSecretFields finds fields that ask for secrets in the clear.
func rejectSecretFields(form Fields) error {
	for _, f := range form {
		if f.Type == "boolean" || len(f.Choices) > 0 {
			continue
		}
		for _, name := range []string{f.Name, f.Title} {
			if word := cachedSecretWord(name, f.Type); word != "" {
				return &PolicyError{fmt.Sprintf("the field %q asks for a secret (%s), and forms are seen and kept: use ask.Secret", f.Name, word)}
			}
		}
	}
	return nil
}

// Names of secrets. Those of textSecrets name one only where the field is a
// text: a number of tokens is no token.
var (
	secretNames = withPlurals("password", "pass word", "passwd", "passphrase", "pass phrase", "passcode", "pwd",
		"card number", "cardnumber", "credit card", "creditcard", "cvv", "cvc",
		"pin code", "pincode", "pin number", "social security", "ssn")
	secretTextNames = withPlurals("secret", "token", "credential", "bearer",
		"api key", "apikey", "access key", "accesskey", "private key", "privatekey", "secret key", "secretkey",
		"accesstoken", "authtoken", "apitoken", "refreshtoken", "clientsecret")
	// secretSubstrings are found in words written together, as in userpassword: nothing
	// innocent contains them.
	secretSubstrings = []string{"password", "passwd", "passphrase", "passcode"}
)

func withPlurals(names ...string) map[string]bool {
	all := make(map[string]bool)
	for _, n := range names {
		all[n], all[n+"s"] = true, true
	}
	return all
}

// secretWords remembers what was made of names: the asks of a program have few.
var secretWords struct {
	sync.RWMutex
	words map[secretWordKey]string
}

type secretWordKey struct{ name, fieldType string }

// It forgets them all when there are this many, and remembers none that is
// longer than this.
const (
	maxSecretWords = 4096
	maxCachedName  = 100
)

// cachedSecretWord returns the word or two of a name that name a secret.
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
	said := splitWords(name)
	for i, word := range said {
		pair := ""
		if i > 0 {
			pair = said[i-1] + " " + word
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
	if len(said) == 1 && said[0] == "pin" {
		return "pin"
	}
	return ""
}

// splitWords splits apiKey, APIKey, api_key1 and "API key" alike: api, key.
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

// startsWord tells whether a word starts at r: after what is no letter or
// digit, between letters and digits, and at a capital that follows a small
// letter or that a small letter follows (the P of APIPath).
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
