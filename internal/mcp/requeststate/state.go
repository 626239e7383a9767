// Package requeststate seals what a server of multi-round-trip requests has to know
// again when the client sends the next one (MCP 2026-07-28, Multi Round-Trip Requests).
// The client carries it, so it is encrypted and authenticated.
package requeststate

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/callers"
)

// A State is what the client's requestState holds: everything needed to resume a call.
type State struct {
	Run string `json:"r"`
	// After is the ordinal of the last entry that the client received.
	After uint64 `json:"a"`
	// Inputs are the open questions, by the key that the client answers with.
	Inputs map[string]Input `json:"q,omitempty"`
	// Progress and ProgressSent let progress rise across round trips, since the
	// progress token may stay the same.
	Progress     float64 `json:"p,omitempty"`
	ProgressSent bool    `json:"b,omitempty"`

	Owner   string `json:"o"`
	Digest  []byte `json:"d"` // of the tool's name and arguments
	Expires int64  `json:"e"` // Unix time
}

// An Input is the state of one question between round trips.
type Input struct {
	Seq uint64 `json:"s"`
	// Attempts counts the invalid answers.
	Attempts int `json:"n,omitempty"`
	// Consented reports whether the user agreed to open Beam's page for the question.
	Consented bool `json:"c,omitempty"`
}

// Lifetime is how long a state is valid.
const Lifetime = 24 * time.Hour

// The errors of [Sealer.Open].
var (
	ErrInvalid = errors.New("this requestState was not made by this server, was changed, or belongs to another request")
	ErrExpired = errors.New("this requestState has expired: call the tool again without it")
)

// A Sealer encrypts and decrypts request states. It may be used concurrently.
type Sealer struct{ aead cipher.AEAD }

// NewSealer derives the key from a secret of at least 16 bytes. States stay valid
// across processes that use the same secret.
func NewSealer(secret []byte) (*Sealer, error) {
	if len(secret) < 16 {
		return nil, fmt.Errorf("a secret of %d bytes is too short to seal states", len(secret))
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "beam mcp requestState", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Sealer{aead}, err
}

// Seal encrypts a state and sets its expiry.
func (s *Sealer) Seal(st State) (string, error) {
	st.Expires = time.Now().Add(Lifetime).Unix()
	return s.SealValue(st, "")
}

// SealValue encrypts a value of another kind. The purpose must be the same when it is opened.
func (s *Sealer) SealValue(v any, purpose string) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, raw, []byte(purpose))), nil
}

// OpenValue decrypts what SealValue has encrypted. The error is [ErrInvalid].
func (s *Sealer) OpenValue(text, purpose string, v any) error {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return ErrInvalid
	}
	raw, err := s.aead.Open(nil, nil, sealed, []byte(purpose))
	if err != nil || json.Unmarshal(raw, v) != nil {
		return ErrInvalid
	}
	return nil
}

// Open decrypts a state. The owner, tool and arguments must be the same as when it
// was sealed. The error is [ErrInvalid] or [ErrExpired].
func (s *Sealer) Open(text, owner string, digest []byte) (State, error) {
	var st State
	if s.OpenValue(text, "", &st) != nil || callers.OwnerID(st.Owner) != owner || !bytes.Equal(st.Digest, digest) {
		return State{}, ErrInvalid
	}
	if time.Now().Unix() > st.Expires {
		return State{}, ErrExpired
	}
	return st, nil
}

// DigestCall returns a digest of a tool and its arguments, which does not depend on how
// the arguments are formatted.
func DigestCall(tool string, args json.RawMessage) []byte {
	var tree any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if len(args) > 0 && d.Decode(&tree) == nil {
		args, _ = json.Marshal(tree) // sorts the members
	}
	if len(args) == 0 || bytes.Equal(args, []byte("null")) {
		args = json.RawMessage("{}")
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%d:%s%s", len(tool), tool, args)
	return hash.Sum(nil)
}
