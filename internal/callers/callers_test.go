package callers_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

func TestCheck(t *testing.T) {
	good := generators.Caller{ID: "https://idp.example|42", Name: "Ada", Roles: []string{"operator", "approver"}}
	if got, err := callers.Check(good); err != nil || got.ID != good.ID || got.Name != "Ada" || !got.HasRole(generators.RoleOperator) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, id := range []string{
		"", "operator", "token", "session:", "session:abc", "bearer:", "bearer:0011", // reserved
		"a\x00", "a\nb", "\x7f", "\u0085", "\xff", strings.Repeat("a", 257),
	} {
		if got, err := callers.Check(generators.Caller{ID: id}); err == nil || got.ID != "" {
			t.Errorf("the id %q is accepted", id)
		}
	}
	for _, id := range []string{"Operator", "operators", "tokens", "sessions", "user:operator", strings.Repeat("a", 256)} {
		if _, err := callers.Check(generators.Caller{ID: id}); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, roles := range [][]string{{""}, {"a\n"}, {strings.Repeat("a", 257)}, make([]string, 101)} {
		if _, err := callers.Check(generators.Caller{ID: "ada", Roles: roles}); err == nil {
			t.Errorf("the roles %q are accepted", roles)
		}
	}
}

// TestNames checks that a name can't change the text around it.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		" Ada\u202e\n Lovelace\x1b[31m ": "Ada‹U+202E› Lovelace",
		"\xffAda":                        "\ufffdAda",
		strings.Repeat("é", 200):         strings.Repeat("é", 126) + "…",
	} {
		if got, err := callers.Check(generators.Caller{ID: "ada", Name: name}); err != nil || got.Name != want {
			t.Errorf("%q became %q, %v", name, got.Name, err)
		}
	}
	for id, want := range map[string]string{"operator": "operator", "token": "token", "session:x": "browser session", "ada": "ada"} {
		if got := callers.Describe(id, ""); got != want {
			t.Errorf("%q is described as %q", id, got)
		}
	}
	if got := callers.Describe("ada", "Ada"); got != "Ada" {
		t.Errorf("got %q", got)
	}
}

func TestOwnersOfEarlierVersions(t *testing.T) {
	for id, want := range map[string]string{"bearer:00112233": "token", "operator": "operator", "session:x": "session:x", "": ""} {
		if got := callers.OwnerID(id); got != want {
			t.Errorf("%q became %q", id, got)
		}
	}
}

// TestNamesThatLookLikeIDs checks that nobody is taken for another whose id is their name.
func TestNamesThatLookLikeIDs(t *testing.T) {
	for _, id := range []string{"user:ada", "oidc:https://idp.example#42", "session:x", "bearer:x"} {
		if callers.IsUser(callers.User(id, nil), id) {
			t.Errorf("the user of the name %s is taken for the person with that id", id)
		}
		if !callers.IsReservedName(id) {
			t.Errorf("a user can have the name %s", id)
		}
	}
	for _, name := range []string{"ada", "user:ada"} {
		if !callers.IsUser(callers.User("ada", nil), name) {
			t.Errorf("ada isn't %s", name)
		}
	}
}
