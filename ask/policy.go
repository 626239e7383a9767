package ask

import (
	"fmt"
	"strings"
	"time"
	"unicode"
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
// already, and sets its time-out. The error is a [*PolicyError].
func (p Policy) Admit(q *Question, openInRun, openOfOwner int) error {
	if p.OpenPerRun > 0 && openInRun >= p.OpenPerRun {
		return &PolicyError{fmt.Sprintf("the run has %d questions open, and no more are allowed", openInRun)}
	}
	if p.OpenPerOwner > 0 && openOfOwner >= p.OpenPerOwner {
		return &PolicyError{fmt.Sprintf("%d questions are open for this person, and no more are allowed", openOfOwner)}
	}
	if q.Timeout == 0 {
		q.Timeout = p.Timeout
	}
	if q.Kind == KindSecret {
		return nil
	}
	return refuseSecrets(q.Fields)
}

// refuseSecrets finds fields that ask for secrets in the clear.
func refuseSecrets(form Fields) error {
	for _, f := range form {
		if f.Type == "boolean" || len(f.Choices) > 0 {
			continue
		}
		if word := secretWord(f.Name, f.Type); word != "" {
			return secretError(f.Name, word)
		}
		if word := secretWord(f.Title, f.Type); word != "" {
			return secretError(f.Name, word)
		}
	}
	return nil
}

func secretError(name, word string) error {
	return &PolicyError{fmt.Sprintf("the field %q asks for a secret (%s), and forms are seen and kept: use ask.Secret", name, word)}
}

// Words that name secrets. Those of textSecrets name one only where the field
// is a text: a number of tokens is no token.
var (
	anySecrets  = []string{"password", "passwd", "passphrase", "pwd", "passcode", "card number", "credit card", "cvv", "cvc", "pin code", "social security number", "ssn"}
	textSecrets = []string{"secret", "token", "api key", "apikey", "access key", "private key", "secret key", "credential", "credentials", "bearer"}
)

func secretWord(name, fieldType string) string {
	said := " " + words(name) + " "
	candidates := anySecrets
	if fieldType == "string" {
		candidates = append(candidates[:len(candidates):len(candidates)], textSecrets...)
	}
	for _, w := range candidates {
		if strings.Contains(said, " "+w+" ") {
			return w
		}
	}
	return ""
}

// words splits apiKey, api_key and "API key" alike: "api key".
func words(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
