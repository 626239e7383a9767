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
)

// A requestState is what a requestState holds: everything that is needed to take a
// call up again (MCP 2026-07-28, Multi Round-Trip Requests). It travels sealed
// and is trusted only when it opens.
type requestState struct {
	Run string `json:"r"`
	// After is the last entry of the run that the client was told.
	After uint64 `json:"a"`
	// Inputs are the questions of the round, by the key that the client answers
	// under.
	Inputs map[string]inputState `json:"q,omitempty"`
	// Progress goes on from round to round, since the token may be the same.
	Progress     float64 `json:"p,omitempty"`
	ProgressSent bool    `json:"b,omitempty"`

	Owner   string `json:"o"`
	Digest  []byte `json:"d"` // of the tool's name and arguments
	Expires int64  `json:"e"` // Unix time
}

// inputState is what a round knows of one question.
type inputState struct {
	Seq uint64 `json:"s"`
	// Attempts counts the answers that did not fit.
	Attempts int `json:"n,omitempty"`
	// Consented: the person agreed to open Beam's page for it.
	Consented bool `json:"c,omitempty"`
}

// stateLifetime is how long a requestState can be answered.
const stateLifetime = 24 * time.Hour

var (
	errInvalidState = errors.New("this requestState was not made by this server, was changed, or belongs to another request")
	errStateExpired = errors.New("this requestState has expired: call the tool again without it")
)

// A stateSealer seals states. It may be used from several goroutines.
type stateSealer struct{ aead cipher.AEAD }

// newStateSealer derives its key from a secret of at least 16 bytes, so that states
// outlive the process if the secret does.
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

func (s *stateSealer) sealState(st requestState) (string, error) {
	st.Expires = time.Now().Add(stateLifetime).Unix()
	raw, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, raw, nil)), nil
}

// openState opens a state for the same owner, tool and arguments.
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

// digestCall tells calls apart: the same tool with the same arguments has the same
// one, in whatever way the arguments are written.
func digestCall(tool string, args json.RawMessage) []byte {
	var tree any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if len(args) > 0 && d.Decode(&tree) == nil {
		args, _ = json.Marshal(tree) // with sorted members
	}
	if len(args) == 0 || bytes.Equal(args, jsonNull) {
		args = json.RawMessage("{}")
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d:%s%s", len(tool), tool, args)
	return sum.Sum(nil)
}
