// Package callers knows the callers that Beam identifies itself, and checks those
// that a program identifies.
package callers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// The ids of callers that Beam identifies itself. None derives from the text of a
// cookie or token, so that runs keep their owner when those change.
const (
	operatorID    = "operator"
	tokenID       = "token"
	sessionPrefix = "session:"
	// userPrefix begins the ids of users whom a file or a proxy names.
	userPrefix = "user:"
	// bearerPrefix begins the ids that once owned the runs of a token's holders; a
	// digest of the token followed.
	bearerPrefix = "bearer:"
)

// Operator returns the person at the machine: whoever started the process, or opened
// a sign-in address.
func Operator() generators.Caller {
	return generators.Caller{ID: operatorID, Roles: []string{generators.RoleOperator}}
}

// LocalClient returns a client that can reach the loopback address and presents
// nothing. What it starts belongs to the operator, but it may not use the runs of
// others.
func LocalClient() generators.Caller { return generators.Caller{ID: operatorID} }

// Token returns the one caller that all who present the token are.
func Token() generators.Caller { return generators.Caller{ID: tokenID} }

// Session returns a browser that has not signed in. The id is random.
func Session(id string) generators.Caller { return generators.Caller{ID: sessionPrefix + id} }

// IsSignedIn reports whether Beam knows who a caller is, rather than only that the
// caller's browser or program can reach it.
func IsSignedIn(c generators.Caller) bool {
	isLocalClient := c.ID == operatorID && !c.HasRole(generators.RoleOperator)
	return c.ID != "" && !isLocalClient && !strings.HasPrefix(c.ID, sessionPrefix)
}

// User returns the person whom the file of users, or the proxy in front of Beam, calls
// name.
func User(name string, roles []string) generators.Caller {
	return generators.Caller{ID: userPrefix + name, Name: name, Roles: roles}
}

// IsReservedName reports whether a user can't have a name: because a caller that isn't a
// user has it as id, or because it has the form of an id.
func IsReservedName(name string) bool {
	return name == operatorID || name == tokenID || isBeamID(name)
}

// isBeamID reports whether a text has the form of the ids that Beam makes of names and the
// like.
func isBeamID(text string) bool {
	return slices.ContainsFunc([]string{userPrefix, openIDPrefix, sessionPrefix, bearerPrefix}, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// IsPerson reports whether it is known which person a caller is. Those who share the
// token may be several.
func IsPerson(c generators.Caller) bool { return IsSignedIn(c) && c.ID != tokenID }

// IsUser reports whether a caller is the user of a name, or has the name as id. Nobody is
// the user of a name that has the form of an id.
func IsUser(c generators.Caller, name string) bool { return slices.Contains(UserIDs(name), c.ID) }

// UserIDs returns the ids that a caller who is the user of a name may have; see [IsUser].
func UserIDs(name string) []string {
	if isBeamID(name) {
		return []string{name}
	}
	return []string{name, userPrefix + name}
}

// OwnerID returns the id of the owner that a log names, which an earlier version may
// have written.
func OwnerID(recorded string) string {
	if strings.HasPrefix(recorded, bearerPrefix) {
		return tokenID
	}
	return recorded
}

// Describe returns what people call a caller: the name, or what the id stands for.
func Describe(id, name string) string {
	switch {
	case name != "":
		return name
	case id == tokenID:
		return "token"
	case strings.HasPrefix(id, userPrefix):
		return id[len(userPrefix):]
	case strings.HasPrefix(id, sessionPrefix):
		return "browser session"
	}
	return id
}

// Limits on what a program says of a caller, in bytes.
const (
	maxText  = 256
	maxRoles = 100
)

// Check returns a caller that a program has identified, with a name that can be
// shown. The error says what is wrong with the caller: an id or a role that is
// missing or malformed, or an id of the form of those that Beam uses itself.
func Check(c generators.Caller) (generators.Caller, error) {
	if c.ID == "" {
		return generators.Caller{}, errors.New("the caller has no id; if nobody is signed in, Identify must return an error")
	}
	if err := checkText("id", c.ID); err != nil {
		return generators.Caller{}, err
	}
	if isReserved(c.ID) {
		return generators.Caller{}, fmt.Errorf("the caller's id %q is reserved: operator, token, and ids that begin with session: or bearer: are Beam's own", c.ID)
	}
	if len(c.Roles) > maxRoles {
		return generators.Caller{}, fmt.Errorf("the caller %q has more than %d roles", c.ID, maxRoles)
	}
	for _, role := range c.Roles {
		if err := checkText("role", role); err != nil {
			return generators.Caller{}, err
		}
	}
	c.Name = cleanName(c.Name)
	return c, nil
}

func isReserved(id string) bool {
	return id == operatorID || id == tokenID || strings.HasPrefix(id, sessionPrefix) || strings.HasPrefix(id, bearerPrefix)
}

// checkText checks an id or a role. The lists of owners rely on the absence of
// control characters.
func checkText(what, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("a caller's %s is empty", what)
	case len(text) > maxText:
		return fmt.Errorf("a caller's %s has more than %d bytes", what, maxText)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("the caller's %s %q has control characters, or is not UTF-8", what, text)
	}
	return nil
}

// cleanName returns a name as people read it, of limited length.
func cleanName(name string) string {
	return humanize.TruncateBytes(cleantext.Line(name), maxText, "…")
}
