package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	gorilla "github.com/gorilla/sessions"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/smallstate"
)

// Users are the people who sign in with tokens of their own. Package users implements it.
type Users interface {
	// Lookup returns whose token a text is, and the token's mark.
	Lookup(token string) (caller generators.Caller, mark string, ok bool)
	// LookupMark returns the user of a name while the token of a mark is valid.
	LookupMark(name, mark string) (generators.Caller, bool)
}

// A Person is somebody for whom an identity provider vouches, until a time.
type Person struct {
	generators.Caller
	Until time.Time
}

// The members of a session that concern people.
const (
	memberUser   = "user"   // the name of the user who has signed in
	memberMark   = "mark"   // the mark of that user's token
	memberPerson = "person" // a generators.Caller for whom an identity provider vouches
	memberUntil  = "until"  // until when, in seconds of Unix time
	memberBegan  = "began"  // when the browser signed in, in milliseconds of Unix time
)

// SignInUser makes the browser's session that of the user whose token it presents. It
// reports false if the token is nobody's.
func (s *Sessions) SignInUser(w http.ResponseWriter, r *http.Request, presented string) (generators.Caller, bool, error) {
	if s.users == nil {
		return generators.Caller{}, false, nil
	}
	caller, mark, ok := s.users.Lookup(presented)
	if !ok {
		return generators.Caller{}, false, nil
	}
	return caller, true, s.grant(w, r, caller.ID, map[string]any{memberUser: caller.Name, memberMark: mark})
}

// maxPerson bounds what a cookie has of a person, in bytes: browsers drop large cookies.
const maxPerson = 2 << 10

// SignInPerson makes the browser's session that of a person for whom an identity provider
// vouches.
func (s *Sessions) SignInPerson(w http.ResponseWriter, r *http.Request, p Person) error {
	raw, err := json.Marshal(p.Caller)
	if err != nil {
		return err
	}
	if len(raw) > maxPerson {
		return fmt.Errorf("the id, name and roles of %q have more than %d bytes", p.ID, maxPerson)
	}
	return s.grant(w, r, p.ID, map[string]any{memberPerson: string(raw), memberUntil: float64(p.Until.Unix())})
}

// personOf returns the user or person who has signed in, if the session is still theirs.
func (s *Sessions) personOf(session *gorilla.Session) (generators.Caller, bool) {
	if name, ok := session.Values[memberUser].(string); ok {
		mark, _ := session.Values[memberMark].(string)
		if s.users == nil {
			return generators.Caller{}, false
		}
		return s.users.LookupMark(name, mark)
	}
	raw, ok := session.Values[memberPerson].(string)
	until, _ := session.Values[memberUntil].(float64)
	var c generators.Caller
	if !ok || !s.trustsPersons || time.Now().Unix() >= int64(until) || json.Unmarshal([]byte(raw), &c) != nil {
		return generators.Caller{}, false
	}
	return c, true
}

// VouchedUntil returns until when an identity provider vouches for a caller whose session
// the browser has. It reports false if the caller isn't known by such a session.
func (s *Sessions) VouchedUntil(r *http.Request, caller generators.Caller) (time.Time, bool) {
	if !s.trustsPersons {
		return time.Time{}, false
	}
	session := s.load(r)
	until, ok := session.Values[memberUntil].(float64)
	c, err := s.callerOf(session)
	return time.Unix(int64(until), 0), ok && err == nil && c.ID == caller.ID
}

// signOuts has when people have signed out everywhere, in milliseconds of Unix time, by their
// ids: sessions that began before have ended.
type signOuts struct{ smallstate.Bucket }

const signOutsBucket = "sign-outs"

func signOutsIn(s smallstate.Store) signOuts {
	return signOuts{smallstate.Bucket{Store: s, Name: signOutsBucket}}
}

// parseMillis returns a time of a person who has signed out, and 0 of another.
func parseMillis(v []byte) int64 {
	n, _ := strconv.ParseInt(string(v), 10, 64)
	return n
}

func formatMillis(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// hasEnded reports whether a session that began at a time, in milliseconds, has ended.
func (s signOuts) hasEnded(id string, began float64) (bool, error) {
	at, err := s.Get(context.Background(), id)
	return at != nil && int64(began) <= parseMillis(at), err
}

// nextStart returns when a session that begins now counts as begun: after the last time at
// which the person signed out everywhere, even if the clock was set back.
func (s signOuts) nextStart(id string) (float64, error) {
	at, err := s.Get(context.Background(), id)
	return float64(max(time.Now().UnixMilli(), parseMillis(at)+1)), err
}

// clockSkew is how far ahead the clock of another process may be, with which a session began that
// somebody ends here.
const clockSkew = time.Minute

// record records that a person signs out everywhere. Older times are dropped once no
// session that they ended can be alive any more.
func (s signOuts) record(ctx context.Context, id string) error {
	now := time.Now().UnixMilli()
	err := s.Update(ctx, id, func(old []byte) ([]byte, error) {
		return formatMillis(max(now+clockSkew.Milliseconds(), parseMillis(old)+1)), nil
	})
	if err != nil {
		return err
	}
	return s.DeleteIf(ctx, func(v smallstate.Value) bool { return now-parseMillis(v.Value) > sessionLifetime.Milliseconds() })
}

// SignOutEverywhere ends all sessions of the person whose session the browser has. It
// returns who that is; the zero Caller if nobody in particular.
func (s *Sessions) SignOutEverywhere(r *http.Request) (generators.Caller, error) {
	c, err := s.callerOf(s.load(r))
	if err != nil || !s.isAdmitted(c) || !callers.IsPerson(c) {
		return generators.Caller{}, err
	}
	return c, s.signOuts.record(context.WithoutCancel(r.Context()), c.ID)
}
