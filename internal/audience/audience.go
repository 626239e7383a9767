// Package audience decides who may answer a question that says so (ask.From and
// ask.NotCaller).
package audience

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/cleantext"
)

// An Audience says who may answer a question. It has the JSON of the members of
// [askdata.Question].
type Audience struct {
	From      []askdata.Who `json:"from,omitempty"`
	NotCaller bool          `json:"notCaller,omitempty"`
}

// Of returns the audience of a question; nil if whoever may use the run may answer.
func Of(q *askdata.Question) *Audience {
	a := Audience{q.From, q.NotCaller}
	return a.OrNil()
}

// ReservesForOwner reports whether a question of a run, which by may use, is for its owner
// alone: if it asks for what is the person's own, a secret, a file or an account elsewhere,
// and it is known who the owner is. Otherwise somebody could send an operator the address
// of such a question, and would get what the operator enters (MCP, Elicitation, Phishing).
func ReservesForOwner(q *askdata.Question, by, owner generators.Caller) bool {
	return Of(q) == nil && (q.OnPage() || q.Kind == askdata.KindURL) && by.ID != owner.ID && callers.IsPerson(owner)
}

// OrNil returns nil for an audience that doesn't restrict who may answer.
func (a Audience) OrNil() *Audience {
	if len(a.From) == 0 && !a.NotCaller {
		return nil
	}
	return &a
}

// Admits reports whether by may answer. Starter is the person who started the run; the
// zero Caller if it isn't known who that is. UsesRun means that by is the run's owner or
// an operator.
func (a *Audience) Admits(by, starter generators.Caller, usesRun bool) bool {
	if a == nil {
		return usesRun
	}
	if !callers.IsPerson(by) || a.NotCaller && (starter.ID == "" || starter.ID == by.ID) {
		return false
	}
	return a.names(by) || len(a.From) == 0 && usesRun
}

// Starter returns the person who started a run, for [Audience.Admits], given the caller
// whom the log names.
func Starter(recorded generators.Caller) generators.Caller {
	if !callers.IsPerson(recorded) {
		return generators.Caller{}
	}
	return recorded
}

// names reports whether the audience names a person.
func (a *Audience) names(c generators.Caller) bool {
	for _, w := range a.From {
		if w.Role != "" && c.HasRole(w.Role) || w.User != "" && callers.IsUser(c, w.User) {
			return true
		}
	}
	return false
}

// Names returns the names under which a question is found by those whom its audience names:
// one of them is among [NamesOf] each. It is empty if the audience names nobody.
func (a *Audience) Names() (names []string) {
	for _, w := range a.From {
		if w.Role != "" {
			names = append(names, roleName+w.Role)
			continue
		}
		for _, id := range callers.UserIDs(w.User) {
			names = append(names, idName+id)
		}
	}
	return names
}

// NamesOf returns the names of a caller; see [Audience.Names].
func NamesOf(c generators.Caller) []string {
	names := []string{idName + c.ID}
	for _, role := range c.Roles {
		names = append(names, roleName+role)
	}
	return names
}

const (
	idName   = "id:"
	roleName = "role:"
)

// Equal reports whether two audiences are the same. Both may be nil.
func (a *Audience) Equal(b *Audience) bool { return a.key() == b.key() }

func (a *Audience) key() string {
	if a == nil {
		return ""
	}
	raw, err := json.Marshal(a)
	if err != nil {
		panic(fmt.Sprintf("audience: encoding: %v", err)) // texts
	}
	return string(raw)
}

// String says who may answer, as in "ada or a person with the role ops, but not the person
// who started the run".
func (a *Audience) String() string {
	var names []string
	for _, w := range a.From {
		if w.Role != "" {
			names = append(names, "a person with the role "+w.Role)
		} else {
			names = append(names, callers.Describe(w.User, ""))
		}
	}
	text := "an operator"
	if n := len(names); n > 0 {
		text = names[n-1]
		if n > 1 {
			text = strings.Join(names[:n-1], ", ") + " or " + text
		}
	}
	if a.NotCaller {
		text += ", but not the person who started the run"
	}
	return cleantext.Line(text)
}
