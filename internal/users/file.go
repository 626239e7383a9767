// Package users keeps the people who may use a Beam, and the tokens that they sign in with,
// in a file that can be edited by hand.
package users

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/callers"
)

// A File is the content of a file of users.
type File struct {
	Users []*User `json:"users"`
}

// A User is a person.
type User struct {
	Name     string   `json:"name"`
	Roles    []string `json:"roles,omitempty"`
	Disabled bool     `json:"disabled,omitempty"` // may not sign in
	Tokens   []*Token `json:"tokens,omitempty"`
}

// A Token is what a user signs in with: the file has only its digest. A token has 256
// random bits, which nobody guesses, so a fast hash is right for it; a slow one is for
// passwords, and would let anybody keep the server busy.
type Token struct {
	Name    string    `json:"name"`
	SHA256  string    `json:"sha256"` // in hexadecimal digits
	Created time.Time `json:"created,omitzero"`
	Expires time.Time `json:"expires,omitzero"` // zero if it doesn't
}

// Expired reports whether the token is no longer valid.
func (t *Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// tokenPrefix begins every token, so that people and scanners for secrets recognize it.
const tokenPrefix = "beam_"

// NewToken returns a random token, and what the file keeps of it.
func NewToken(name string, now, expires time.Time) (text string, t *Token) {
	var secret [32]byte
	rand.Read(secret[:])
	text = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return text, &Token{Name: name, SHA256: digestOf(text), Created: now.UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second)}
}

// digestOf returns a token's digest as the file has it.
func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Bounds of a file.
const (
	maxFile   = 4 << 20 // bytes
	maxUsers  = 10_000
	maxTokens = 100 // of a user
)

// validName matches the names of users and tokens. There is one way to write each: two
// people whose names differ only in case, or in letters that look alike, would be taken for
// each other.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]*$`)

const maxName = 64

// CheckName returns what is wrong with the name of a user or token.
func CheckName(name string) error {
	switch {
	case len(name) > maxName || !validName.MatchString(name):
		return fmt.Errorf("the name %q is not valid: a name has up to %d of the characters a-z 0-9 . _ @ + -, and begins with a letter or digit", name, maxName)
	case callers.IsReservedName(name):
		return fmt.Errorf("the name %q is reserved", name)
	}
	return nil
}

// Load reads a file of users. The error says what is wrong with it, and never has a token.
func Load(path string) (*File, error) {
	raw, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the users in %s: %w", path, err)
	}
	return f, nil
}

// readPrivate reads a regular file that only its owner may read.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the users: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the users: %s is not a file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("the users: %s has more than %d bytes", path, maxFile)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("the users: others can read or change %s (its mode is %o): chmod 600 it", path, info.Mode().Perm())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the users: %w", err)
	}
	return raw, nil
}

// Parse is [Load] for the content of a file.
func Parse(raw []byte) (*File, error) {
	var f File
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields() // a misspelled "disabled" must not pass for none
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf(`this is not a file of users, as in {"users": [{"name": "ada", "roles": ["ops"]}]}: %w`, err)
	}
	if d.More() {
		return nil, errors.New("there is more after the end")
	}
	return &f, f.check()
}

// check returns what is wrong with the users.
func (f *File) check() error {
	if len(f.Users) > maxUsers {
		return fmt.Errorf("there are more than %d", maxUsers)
	}
	names, digests := make(map[string]bool), make(map[string]bool)
	for i, u := range f.Users {
		if u == nil {
			return fmt.Errorf("user %d is null", i+1)
		}
		if err := CheckName(u.Name); err != nil {
			return err
		}
		if names[u.Name] {
			return fmt.Errorf("two have the name %s", u.Name)
		}
		names[u.Name] = true
		if err := u.check(digests); err != nil {
			return fmt.Errorf("%s: %w", u.Name, err)
		}
	}
	return nil
}

// check returns what is wrong with a user. digests are those of all users' tokens.
func (u *User) check(digests map[string]bool) error {
	if _, err := callers.Check(callers.User(u.Name, u.Roles)); err != nil {
		return err
	}
	if len(u.Tokens) > maxTokens {
		return fmt.Errorf("there are more than %d tokens", maxTokens)
	}
	names := make(map[string]bool)
	for i, t := range u.Tokens {
		if t == nil {
			return fmt.Errorf("token %d is null", i+1)
		}
		if err := CheckName(t.Name); err != nil {
			return err
		}
		raw, err := hex.DecodeString(t.SHA256)
		switch {
		case names[t.Name]:
			return fmt.Errorf("two tokens have the name %s", t.Name)
		case err != nil || len(raw) != sha256.Size:
			return fmt.Errorf("the token %s has no SHA-256, which is 64 hexadecimal digits: beam user token makes tokens", t.Name)
		case digests[string(raw)]:
			return fmt.Errorf("the token %s is there twice", t.Name)
		}
		names[t.Name], digests[string(raw)] = true, true
	}
	return nil
}

// User returns the user of a name; nil if there is none.
func (f *File) User(name string) *User {
	if i := slices.IndexFunc(f.Users, func(u *User) bool { return u.Name == name }); i >= 0 {
		return f.Users[i]
	}
	return nil
}

// Token returns the user's token of a name; nil if there is none.
func (u *User) Token(name string) *Token {
	if i := slices.IndexFunc(u.Tokens, func(t *Token) bool { return t.Name == name }); i >= 0 {
		return u.Tokens[i]
	}
	return nil
}
