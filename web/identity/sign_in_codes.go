package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/photon-beam/beam/internal/smallstate"
)

// SignInCodes are the single-use codes that sign a browser in as the operator. It is
// safe for concurrent use, also by several processes with the same store.
type SignInCodes struct {
	issued smallstate.Bucket // when each was issued, in milliseconds of Unix time, by its hash
}

// Limits on unused codes, and the length of one.
const (
	signInCodeLifetime = 24 * time.Hour
	maxSignInCodes     = 100
	signInCodeLength   = 26
)

// NewSignInCodes returns the codes in a store.
func NewSignInCodes(s smallstate.Store) *SignInCodes {
	return &SignInCodes{smallstate.Bucket{Store: s, Name: "sign-in-codes"}}
}

// Issue returns a new code. After an error, which is the store's, it isn't valid.
func (s *SignInCodes) Issue(ctx context.Context) (string, error) {
	others := 0
	err := s.issued.DeleteIf(ctx, func(v smallstate.Value) bool {
		others++
		return others >= maxSignInCodes || !isFresh(v.Value)
	})
	code := rand.Text()
	if err == nil {
		_, err = s.issued.Add(ctx, codeKey(code), formatMillis(time.Now().UnixMilli()))
	}
	return code, err
}

// IsValid reports whether [SignInCodes.Redeem] would accept a code.
func (s *SignInCodes) IsValid(ctx context.Context, code string) bool {
	if len(code) != signInCodeLength { // such as a token
		return false
	}
	at, err := s.issued.Get(ctx, codeKey(code))
	return err == nil && isFresh(at)
}

// Redeem consumes a code and reports whether it was valid: once, in one process. The error is the
// store's.
func (s *SignInCodes) Redeem(ctx context.Context, code string) (bool, error) {
	at, err := s.issued.Get(ctx, codeKey(code))
	if err != nil || !isFresh(at) {
		return false, err
	}
	return s.issued.Store.Apply(ctx, s.issued.Change(codeKey(code), at, nil))
}

func codeKey(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// isFresh reports whether a code that was issued at a time may be used.
func isFresh(issued []byte) bool {
	return issued != nil && time.Since(time.UnixMilli(parseMillis(issued))) < signInCodeLifetime
}
