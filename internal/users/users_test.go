package users_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/users"
)

// newFile returns the path of a file with users, and the tokens of each.
func newFile(t testing.TB, names ...string) (path string, tokens map[string]string) {
	t.Helper()
	path, tokens = filepath.Join(t.TempDir(), "users.json"), make(map[string]string)
	edit(t, path, func(f *users.File) {
		for _, name := range names {
			text, token := users.NewToken("first", time.Now(), time.Time{})
			f.Users = append(f.Users, &users.User{Name: name, Roles: []string{"ops"}, Tokens: []*users.Token{token}})
			tokens[name] = text
		}
	})
	return path, tokens
}

func edit(t testing.TB, path string, change func(*users.File)) {
	t.Helper()
	if err := users.Edit(path, func(f *users.File) error { change(f); return nil }); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) (*users.Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s, err := users.Open(path, "", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s, &log
}

// A token is its user's while it is in the file, hasn't expired, and the user isn't
// disabled. Changes of the file take effect at once.
func TestTokens(t *testing.T) {
	path, tokens := newFile(t, "ada", "ben")
	s, _ := open(t, path)
	ada, mark, ok := s.Lookup(tokens["ada"])
	if !ok || ada.ID != "user:ada" || ada.Name != "ada" || !ada.HasRole("ops") {
		t.Fatalf("%+v, %v", ada, ok)
	}
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw), tokens["ada"]) || strings.Contains(string(raw), strings.TrimPrefix(tokens["ada"], "beam_")) {
		t.Error("the file has the token")
	}
	for _, wrong := range []string{"", "beam_", tokens["ada"] + "x", strings.ToUpper(tokens["ada"]), tokens["ada"][:len(tokens["ada"])-1], mark} {
		if _, _, ok := s.Lookup(wrong); ok {
			t.Errorf("%q is a token", wrong)
		}
	}
	if _, ok := s.LookupMark("ada", mark); !ok {
		t.Error("the session of the token isn't valid")
	}
	if _, ok := s.LookupMark("ben", mark); ok {
		t.Error("the token is another's, too")
	}
	isValid := func() bool {
		_, _, byToken := s.Lookup(tokens["ada"])
		_, byMark := s.LookupMark("ada", mark)
		if byToken != byMark {
			t.Errorf("the token is valid: %v, and its sessions: %v", byToken, byMark)
		}
		return byToken
	}
	edit(t, path, func(f *users.File) { f.User("ada").Disabled = true })
	if isValid() {
		t.Error("a disabled user's token is valid")
	}
	edit(t, path, func(f *users.File) { f.User("ada").Disabled = false })
	if !isValid() {
		t.Error("the token of a user who is enabled again isn't valid")
	}
	edit(t, path, func(f *users.File) { f.User("ada").Tokens[0].Expires = time.Now().Add(-time.Second) })
	if isValid() {
		t.Error("an expired token is valid")
	}
	edit(t, path, func(f *users.File) {
		_, token := users.NewToken("first", time.Now(), time.Time{})
		f.User("ada").Tokens = []*users.Token{token}
	})
	if isValid() {
		t.Error("a revoked token is valid, since another has its name")
	}
}

// A file that isn't valid is refused, and says what would be right.
func TestInvalidFiles(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	for _, tt := range []struct{ file, want string }{
		{`{`, "not a file of users"},
		{`{"users": {}}`, "not a file of users"},
		{`{"users": [{"name": "ada", "disable": true}]}`, `unknown field "disable"`},
		{`{"users": [null]}`, "user 1 is null"},
		{`{"users": []} {}`, "more after the end"},
		{`{"users": [{"name": ""}]}`, "a-z 0-9"},
		{`{"users": [{"name": "Ada"}]}`, "a-z 0-9"},
		{`{"users": [{"name": "аda"}]}`, "a-z 0-9"}, // the first letter is Cyrillic
		{`{"users": [{"name": "ada\u0000"}]}`, "a-z 0-9"},
		{`{"users": [{"name": "-rf"}]}`, "begins with a letter"},
		{`{"users": [{"name": "operator"}]}`, "reserved"},
		{`{"users": [{"name": "token"}]}`, "reserved"},
		{`{"users": [{"name": "session:x"}]}`, "a-z 0-9"},
		{`{"users": [{"name": "ada"}, {"name": "ada"}]}`, "two have the name ada"},
		{`{"users": [{"name": "ada", "roles": [""]}]}`, "role is empty"},
		{`{"users": [{"name": "ada", "roles": ["a\nb"]}]}`, "control characters"},
		{`{"users": [{"name": "ada", "tokens": [{"name": "a", "sha256": "12"}]}]}`, "64 hexadecimal digits"},
		{`{"users": [{"name": "ada", "tokens": [null]}]}`, "token 1 is null"},
		{`{"users": [{"name": "ada", "tokens": [{"name": "a", "sha256": "` + digest + `"}, {"name": "a", "sha256": "` + digest + `"}]}]}`, "two tokens have the name a"},
		{`{"users": [{"name": "ada", "tokens": [{"name": "a", "sha256": "` + digest + `"}]}, {"name": "ben", "tokens": [{"name": "b", "sha256": "` + strings.ToUpper(digest) + `"}]}]}`, "twice"},
	} {
		if _, err := users.Parse([]byte(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.file, err, tt.want)
		}
	}
}

// A file that others can read, or that is none, is refused.
func TestFileMustBePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	path, _ := newFile(t, "ada")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new file has the mode %v, %v", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := users.Load(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
		if err := users.Edit(path, func(*users.File) error { return nil }); err == nil {
			t.Errorf("mode %o: it was edited", mode)
		}
	}
	if _, err := users.Load(filepath.Dir(path)); err == nil {
		t.Error("a folder was read")
	}
}

// A running server keeps its users while the file is invalid or gone, and says so once.
func TestInvalidChangeIsIgnored(t *testing.T) {
	path, tokens := newFile(t, "ada")
	s, log := open(t, path)
	for _, change := range []func() error{
		func() error { return os.WriteFile(path, []byte("{"), 0o600) },
		func() error { return os.Remove(path) },
		func() error {
			return errors.Join(os.WriteFile(path, []byte(`{"users":[]}`), 0o600), os.Chmod(path, 0o644))
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, _, ok := s.Lookup(tokens["ada"]); !ok {
				t.Error("the user is gone")
			}
		}
	}
	if n := strings.Count(log.String(), "users stay as they were"); n != 3 {
		t.Errorf("it was logged %d times: %s", n, log)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.Lookup(tokens["ada"]); ok {
		t.Error("the user is still there")
	}
}

// Edits by many processes at once are all kept.
func TestConcurrentEdits(t *testing.T) {
	path, _ := newFile(t)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			edit(t, path, func(f *users.File) { f.Users = append(f.Users, &users.User{Name: fmt.Sprintf("u%d", i)}) })
		})
	}
	group.Wait()
	f, err := users.Load(path)
	if err != nil || len(f.Users) != 20 {
		t.Errorf("%d users, %v", len(f.Users), err)
	}
	if err := users.Edit(path, func(f *users.File) error { f.Users[0].Name = "NO"; return nil }); err == nil {
		t.Error("an invalid user was written")
	}
	if f, err := users.Load(path); err != nil || len(f.Users) != 20 {
		t.Errorf("afterwards: %d users, %v", len(f.Users), err)
	}
}

// Changes are told in words, without secrets.
func TestCompare(t *testing.T) {
	parse := func(text string) *users.File {
		var f users.File
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		return &f
	}
	before := parse(`{"users":[{"name":"ada","tokens":[{"name":"a","sha256":"1"},{"name":"b","sha256":"2"},{"name":"c","sha256":"3"}]},{"name":"ben"},{"name":"cleo","disabled":true}]}`)
	after := parse(`{"users":[{"name":"ada","roles":["ops"],"disabled":true,"tokens":[{"name":"b","sha256":"9"},{"name":"c","sha256":"3","expires":"2030-01-01T00:00:00Z"},{"name":"d","sha256":"4"}]},{"name":"cleo"},{"name":"dev"}]}`)
	want := []string{`ada: roles are now "ops", and were ""`, "ada: disabled", "ada: token b replaced", "ada: token c has another expiry", "ada: token d added", "ada: token a revoked", "cleo: enabled", "dev: added", "ben: removed"}
	if got := users.Compare(before, after).Texts; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Only enabled users who have a valid token can answer.
func TestAny(t *testing.T) {
	path, _ := newFile(t, "ada")
	s, _ := open(t, path)
	isOps := func(c generators.Caller) bool { return c.HasRole("ops") }
	if !s.Any(isOps) {
		t.Error("there is nobody")
	}
	edit(t, path, func(f *users.File) { f.User("ada").Tokens[0].Expires = time.Now().Add(-time.Second) })
	s.Find("ada") // reads the file
	if s.Any(isOps) {
		t.Error("a user whose token has expired may answer")
	}
	edit(t, path, func(f *users.File) { f.User("ada").Tokens[0].Expires = time.Time{} })
	s.Find("ada")
	if !s.Any(isOps) {
		t.Error("there is nobody again")
	}
	edit(t, path, func(f *users.File) { f.User("ada").Disabled = true })
	s.Find("ada") // reads the file
	if s.Any(isOps) {
		t.Error("a disabled user may answer")
	}
}

// A token that a server requires from everyone is no user's: neither at the start, nor when
// the file changes.
func TestSharedToken(t *testing.T) {
	path, tokens := newFile(t, "ada", "ben")
	if _, err := users.Open(path, tokens["ben"], slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "ben's token") || strings.Contains(err.Error(), tokens["ben"]) {
		t.Errorf("the error is %v", err)
	}
	shared, t2 := users.NewToken("late", time.Now(), time.Time{})
	var log bytes.Buffer
	s, err := users.Open(path, shared, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(f *users.File) { f.User("ada").Tokens = append(f.User("ada").Tokens, t2) })
	if _, _, ok := s.Lookup(shared); ok {
		t.Error("the token is a user's")
	}
	if _, _, ok := s.Lookup(tokens["ada"]); !ok || !strings.Contains(log.String(), "ada's token late") {
		t.Errorf("ada can sign in: %v; the log: %s", ok, &log)
	}
}
