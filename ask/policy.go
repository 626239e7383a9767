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
	switch {
	case q.Kind == KindFile && q.File == nil:
		return &PolicyError{"a file question needs its rules: use ask.File"}
	case q.Kind == KindSample && q.Sample == nil:
		return &PolicyError{"a model needs a request: use ask.Sample"}
	case q.Kind == KindSecret:
		return nil
	}
	return refuseSecrets(q.Fields)
}

// TimeoutOf is how long a question may stay open: its own time-out, or else the
// policy's. 0 is for ever.
func (p Policy) TimeoutOf(q *Question) time.Duration {
	return cmp.Or(time.Duration(q.Timeout), p.Timeout)
}

// refuseSecrets finds fields that ask for secrets in the clear.
func refuseSecrets(form Fields) error {
	for _, f := range form {
		if f.Type == "boolean" || len(f.Choices) > 0 {
			continue
		}
		for _, name := range []string{f.Name, f.Title} {
			if word := secretWord(name, f.Type); word != "" {
				return &PolicyError{fmt.Sprintf("the field %q asks for a secret (%s), and forms are seen and kept: use ask.Secret", f.Name, word)}
			}
		}
	}
	return nil
}

// Names of secrets. Those of textSecrets name one only where the field is a
// text: a number of tokens is no token.
var (
	anySecrets = set("password", "pass word", "passwd", "passphrase", "pass phrase", "passcode", "pwd",
		"card number", "cardnumber", "credit card", "creditcard", "cvv", "cvc",
		"pin code", "pincode", "pin number", "social security", "ssn")
	textSecrets = set("secret", "token", "credential", "bearer",
		"api key", "apikey", "access key", "accesskey", "private key", "privatekey", "secret key", "secretkey",
		"accesstoken", "authtoken", "apitoken", "refreshtoken", "clientsecret")
	// within are found in words written together, as in userpassword: nothing
	// innocent contains them.
	within = []string{"password", "passwd", "passphrase", "passcode"}
)

func set(names ...string) map[string]bool {
	all := make(map[string]bool)
	for _, n := range names {
		all[n], all[n+"s"] = true, true
	}
	return all
}

// judged remembers what was made of names: the asks of a program have few.
var judged struct {
	sync.RWMutex
	words map[judgedName]string
}

type judgedName struct{ name, fieldType string }

// It forgets them all when there are this many, and remembers none that is
// longer than this.
const (
	maxJudged     = 4096
	maxJudgedName = 100
)

// secretWord returns the word or two of a name that name a secret.
func secretWord(name, fieldType string) string {
	key := judgedName{name, fieldType}
	judged.RLock()
	word, known := judged.words[key]
	judged.RUnlock()
	if known {
		return word
	}
	word = judge(name, fieldType)
	if len(name) <= maxJudgedName {
		judged.Lock()
		defer judged.Unlock()
		if judged.words == nil || len(judged.words) >= maxJudged {
			judged.words = make(map[judgedName]string)
		}
		judged.words[key] = word
	}
	return word
}

func judge(name, fieldType string) string {
	said := words(name)
	for i, word := range said {
		pair := ""
		if i > 0 {
			pair = said[i-1] + " " + word
		}
		for _, w := range []string{word, pair} {
			if anySecrets[w] || fieldType == "string" && textSecrets[w] {
				return w
			}
		}
		for _, w := range within {
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

// words splits apiKey, APIKey, api_key1 and "API key" alike: api, key.
func words(name string) []string {
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
