package users

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

// A Store has the users of a file, which it reads again when it changes. A file that has
// become invalid, or is gone, changes nothing, and is logged. Its methods may be called
// from several goroutines.
type Store struct {
	path   string
	shared string // the digest of the server's token, as in the file; "" for none
	logger *slog.Logger

	mu       sync.Mutex
	info     os.FileInfo // of the file that was read last, also if it is invalid
	problem  string      // what is wrong with it
	file     *File
	byName   map[string]*User
	byDigest map[[sha256.Size]byte]grant
	changed  []func(Changes)
}

// A grant is a token and whose it is.
type grant struct {
	user  *User
	token *Token
}

// Open reads a file of users. None of them may have the token shared, which a server
// requires from everyone; "" for none: their runs would belong to all who have it.
func Open(path, shared string, logger *slog.Logger) (*Store, error) {
	s := &Store{path: path, logger: logger}
	if shared != "" {
		s.shared = digestOf(shared)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f, err := s.load()
	if err != nil {
		return nil, err
	}
	s.info = info
	s.set(f)
	return s, nil
}

// load reads the file.
func (s *Store) load() (*File, error) {
	f, err := Load(s.path)
	if err != nil {
		return nil, err
	}
	for _, u := range f.Users {
		for _, t := range u.Tokens {
			if strings.EqualFold(t.SHA256, s.shared) {
				return nil, fmt.Errorf("the users in %s: %s's token %s is also the one that this server requires from everyone (--token), so that %s's runs would belong to all who have it: make another, with openssl rand -hex 16", s.path, u.Name, t.Name, u.Name)
			}
		}
	}
	return f, nil
}

// set replaces the users. Callers hold mu, or are alone.
func (s *Store) set(f *File) {
	s.file, s.byName, s.byDigest = f, make(map[string]*User), make(map[[sha256.Size]byte]grant)
	for _, u := range f.Users {
		s.byName[u.Name] = u
		for _, t := range u.Tokens {
			var digest [sha256.Size]byte
			hex.Decode(digest[:], []byte(t.SHA256)) // Load has checked it
			s.byDigest[digest] = grant{u, t}
		}
	}
}

// OnChange has f called after each change of the file. It must be called before
// [Store.Watch].
func (s *Store) OnChange(f func(Changes)) { s.changed = append(s.changed, f) }

// watchInterval is how often the file is compared when nobody signs in.
const watchInterval = 500 * time.Millisecond

// Watch notices changes of the file, and tokens that expire, until ctx ends.
func (s *Store) Watch(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.refresh()
			if s.anyExpired(last, now) {
				s.notify(Changes{})
			}
			last = now
		}
	}
}

// anyExpired reports whether a token expired after from, and not after to.
func (s *Store) anyExpired(from, to time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.byDigest {
		if g.token.Expired(to) && !g.token.Expired(from) {
			return true
		}
	}
	return false
}

// refresh reads the file if it has changed.
func (s *Store) refresh() {
	s.mu.Lock()
	changes := s.read()
	s.mu.Unlock()
	if changes != nil {
		s.notify(*changes)
	}
}

// read reads the file if it has changed, and returns how; nil if it hasn't. Callers hold
// mu.
func (s *Store) read() *Changes {
	info, err := os.Stat(s.path)
	if err == nil && s.info != nil && os.SameFile(info, s.info) && info.ModTime().Equal(s.info.ModTime()) && info.Size() == s.info.Size() && info.Mode() == s.info.Mode() {
		return nil
	}
	var f *File
	if err == nil {
		f, err = s.load()
	}
	if s.info = info; err != nil {
		if text := err.Error(); text != s.problem {
			s.problem = text
			s.logger.Error("the file of users is invalid; the users stay as they were", "err", err)
		}
		return nil
	}
	before := s.file
	s.set(f)
	s.problem = ""
	changes := Compare(before, f)
	s.logger.Info("the file of users has changed", "changes", changes.Texts)
	return &changes
}

func (s *Store) notify(c Changes) {
	for _, f := range s.changed {
		f(c)
	}
}

// Lookup returns whose token a text is, and the token's mark, which identifies it in
// sessions. It reports false if it isn't valid.
func (s *Store) Lookup(token string) (caller generators.Caller, mark string, ok bool) {
	digest := sha256.Sum256([]byte(token)) // looking up a digest tells nothing by the time it takes
	s.refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.byDigest[digest]
	if !ok || g.user.Disabled || g.token.Expired(time.Now()) {
		return generators.Caller{}, "", false
	}
	return g.user.caller(), hex.EncodeToString(digest[:16]), true
}

// LookupMark returns the user with a name if the token of a mark is still theirs and valid,
// and they aren't disabled.
func (s *Store) LookupMark(name, mark string) (generators.Caller, bool) {
	s.refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.byName[name]
	if u == nil || u.Disabled || mark == "" {
		return generators.Caller{}, false
	}
	i := slices.IndexFunc(u.Tokens, func(t *Token) bool { return len(t.SHA256) > len(mark) && hexEqual(t.SHA256[:len(mark)], mark) })
	if i < 0 || u.Tokens[i].Expired(time.Now()) {
		return generators.Caller{}, false
	}
	return u.caller(), true
}

func hexEqual(a, b string) bool {
	x, errX := hex.DecodeString(a)
	y, errY := hex.DecodeString(b)
	return errX == nil && errY == nil && slices.Equal(x, y)
}

// Find returns a user, and whether the file has one of the name, who may be disabled.
func (s *Store) Find(name string) (u User, ok bool) {
	s.refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.byName[name]; found != nil {
		return *found, true
	}
	return User{}, false
}

// Any reports whether there is a user, who isn't disabled and has a valid token, for whom
// qualifies returns true. It doesn't read the file.
func (s *Store) Any(qualifies func(generators.Caller) bool) bool {
	s.mu.Lock()
	users := s.file.Users
	s.mu.Unlock()
	now := time.Now()
	isValid := func(t *Token) bool { return !t.Expired(now) }
	return slices.ContainsFunc(users, func(u *User) bool {
		return !u.Disabled && slices.ContainsFunc(u.Tokens, isValid) && qualifies(u.caller())
	})
}

func (u *User) caller() generators.Caller { return callers.User(u.Name, slices.Clone(u.Roles)) }

var _ callers.Authenticator = (*Store)(nil)

// Authenticate implements [callers.Authenticator] for programs that present a user's token.
func (s *Store) Authenticate(r *http.Request) (generators.Caller, error) {
	if token, ok := callers.BearerToken(r); ok {
		if caller, _, ok := s.Lookup(token); ok {
			return caller, nil
		}
	}
	return generators.Caller{}, callers.ErrNoCredentials
}
