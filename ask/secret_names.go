package ask

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

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
