package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// SignInCodes are the single-use codes that sign a browser in as the operator. It is
// safe for concurrent use.
type SignInCodes struct {
	mu    sync.Mutex
	codes map[[sha256.Size]byte]time.Time // when each was issued, by its hash
}

// Limits on unused codes.
const (
	signInCodeLifetime = 24 * time.Hour
	maxSignInCodes     = 100
)

// NewSignInCodes returns an empty set.
func NewSignInCodes() *SignInCodes {
	return &SignInCodes{codes: make(map[[sha256.Size]byte]time.Time)}
}

// Issue returns a new code.
func (s *SignInCodes) Issue() string {
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.codes) >= maxSignInCodes {
		clear(s.codes)
	}
	s.codes[sha256.Sum256([]byte(code))] = time.Now()
	return code
}

// IsValid reports whether [SignInCodes.Redeem] would accept a code.
func (s *SignInCodes) IsValid(code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	issued, ok := s.codes[sha256.Sum256([]byte(code))]
	return ok && time.Since(issued) < signInCodeLifetime
}

// Redeem consumes a code and reports whether it was valid.
func (s *SignInCodes) Redeem(code string) bool {
	key := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	issued, ok := s.codes[key]
	delete(s.codes, key)
	return ok && time.Since(issued) < signInCodeLifetime
}
