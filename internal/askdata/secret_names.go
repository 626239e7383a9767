package askdata

import (
	"fmt"
	"sync"

	"github.com/photon-beam/beam/internal/secretwords"
)

// SecretRefusal returns why a form may not be asked: a field asks for a secret in the
// clear. It returns "" if none does.
func (form Fields) SecretRefusal() string {
	for _, f := range form {
		if f.Type == "boolean" || len(f.Choices) > 0 {
			continue
		}
		for _, name := range []string{f.Name, f.Title} {
			if word := cachedSecretWord(name, f.Type); word != "" {
				return fmt.Sprintf("the field %q asks for a secret (%s), and answers to forms are recorded in the clear: use ask.Secret", f.Name, word)
			}
		}
	}
	return ""
}

// secretWords caches the results of [secretwords.InName]: a program asks for few names.
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

// cachedSecretWord returns the words of a name that name a secret, or the empty string.
func cachedSecretWord(name, fieldType string) string {
	key := secretWordKey{name, fieldType}
	secretWords.RLock()
	word, known := secretWords.words[key]
	secretWords.RUnlock()
	if known {
		return word
	}
	word = secretwords.InName(name, fieldType == "string")
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
