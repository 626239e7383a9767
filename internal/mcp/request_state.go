package mcp

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

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A requestState is what the client's requestState holds: everything needed to resume a
// call (MCP 2026-07-28, Multi Round-Trip Requests). It is encrypted and authenticated.
type requestState struct {
	Run string `json:"r"`
	// After is the sequence number of the last entry that the client received.
	After uint64 `json:"a"`
	// Inputs are the open questions, by the key that the client answers with.
	Inputs map[string]inputState `json:"q,omitempty"`
	// Progress and ProgressSent let progress rise across round trips, since the
	// progress token may stay the same.
	Progress     float64 `json:"p,omitempty"`
	ProgressSent bool    `json:"b,omitempty"`

	Owner   string `json:"o"`
	Digest  []byte `json:"d"` // of the tool's name and arguments
	Expires int64  `json:"e"` // Unix time
}

// inputState is the state of one question between round trips.
type inputState struct {
	Seq uint64 `json:"s"`
	// Attempts counts the invalid answers.
	Attempts int `json:"n,omitempty"`
	// Consented reports whether the user agreed to open Beam's page for the question.
	Consented bool `json:"c,omitempty"`
}

// stateLifetime is how long a requestState is valid.
const stateLifetime = 24 * time.Hour

var (
	errInvalidState = errors.New("this requestState was not made by this server, was changed, or belongs to another request")
	errStateExpired = errors.New("this requestState has expired: call the tool again without it")
)

// A stateSealer encrypts and decrypts request states. It may be used concurrently.
type stateSealer struct{ aead cipher.AEAD }

// newStateSealer derives the key from a secret of at least 16 bytes. States stay valid
// across processes that use the same secret.
func newStateSealer(secret []byte) (*stateSealer, error) {
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
	return &stateSealer{aead}, err
}

// sealState encrypts a state and sets its expiry.
func (s *stateSealer) sealState(st requestState) (string, error) {
	st.Expires = time.Now().Add(stateLifetime).Unix()
	raw, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, raw, nil)), nil
}

// openState decrypts a state. The owner, tool and arguments must be the same as when it
// was sealed.
func (s *stateSealer) openState(text, owner string, digest []byte) (requestState, error) {
	var st requestState
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return st, errInvalidState
	}
	raw, err := s.aead.Open(nil, nil, sealed, nil)
	if err != nil || json.Unmarshal(raw, &st) != nil || st.Owner != owner || !bytes.Equal(st.Digest, digest) {
		return requestState{}, errInvalidState
	}
	if time.Now().Unix() > st.Expires {
		return requestState{}, errStateExpired
	}
	return st, nil
}

// digestCall returns a digest of a tool and its arguments, which does not depend on how
// the arguments are formatted.
func digestCall(tool string, args json.RawMessage) []byte {
	var tree any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if len(args) > 0 && d.Decode(&tree) == nil {
		args, _ = json.Marshal(tree) // sorts the members
	}
	if len(args) == 0 || bytes.Equal(args, msg.Null) {
		args = json.RawMessage("{}")
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%d:%s%s", len(tool), tool, args)
	return hash.Sum(nil)
}
