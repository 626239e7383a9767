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

// A state is what a requestState holds: everything that is needed to take a
// call up again (MCP 2026-07-28, Multi Round-Trip Requests). It travels sealed
// and is trusted only when it opens.
type state struct {
	Run string `json:"r"`
	// After is the last entry of the run that the client was told.
	After uint64 `json:"a"`
	// Asks are the questions of the round, by the key that the client answers
	// under.
	Asks map[string]asking `json:"q,omitempty"`
	// Progress goes on from round to round, since the token may be the same.
	Progress float64 `json:"p,omitempty"`
	Begun    bool    `json:"b,omitempty"`

	Owner   string `json:"o"`
	Digest  []byte `json:"d"` // of the tool's name and arguments
	Expires int64  `json:"e"` // Unix time
}

// asking is what a round knows of one question.
type asking struct {
	Seq uint64 `json:"s"`
	// Attempts counts the answers that did not fit.
	Attempts int `json:"n,omitempty"`
	// Consented: the person agreed to open Beam's page for it.
	Consented bool `json:"c,omitempty"`
}

// stateAge is how long a requestState can be answered.
const stateAge = 24 * time.Hour

var (
	errState   = errors.New("this requestState was not made by this server, was changed, or belongs to another request")
	errExpired = errors.New("this requestState has expired: call the tool again without it")
)

// A sealer seals states. It may be used from several goroutines.
type sealer struct{ aead cipher.AEAD }

// newSealer derives its key from a secret of at least 16 bytes, so that states
// outlive the process if the secret does.
func newSealer(secret []byte) (*sealer, error) {
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
	return &sealer{aead}, err
}

func (s *sealer) seal(st state) (string, error) {
	st.Expires = time.Now().Add(stateAge).Unix()
	raw, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, raw, nil)), nil
}

// open opens a state for the same owner, tool and arguments.
func (s *sealer) open(text, owner string, digest []byte) (state, error) {
	var st state
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return st, errState
	}
	raw, err := s.aead.Open(nil, nil, sealed, nil)
	if err != nil || json.Unmarshal(raw, &st) != nil || st.Owner != owner || !bytes.Equal(st.Digest, digest) {
		return state{}, errState
	}
	if time.Now().Unix() > st.Expires {
		return state{}, errExpired
	}
	return st, nil
}

// digest tells calls apart: the same tool with the same arguments has the same
// one, in whatever way the arguments are written.
func digest(tool string, args json.RawMessage) []byte {
	var tree any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if len(args) > 0 && d.Decode(&tree) == nil {
		args, _ = json.Marshal(tree) // with sorted members
	}
	if len(args) == 0 || bytes.Equal(args, null) {
		args = json.RawMessage("{}")
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d:%s%s", len(tool), tool, args)
	return sum.Sum(nil)
}
