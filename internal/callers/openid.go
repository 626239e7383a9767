package callers

import (
	"net/url"
	"strings"

	"github.com/photon-beam/beam/generators"
)

// openIDPrefix begins the ids of people for whom an issuer of tokens vouches.
const openIDPrefix = "oidc:"

// OpenID returns the person whom an issuer knows as a subject, whether in a browser or by
// an access token: both are the same owner. Only the issuer and the subject identify the
// person; the name is for people.
func OpenID(issuer, subject, name string, roles []string) generators.Caller {
	id := openIDPrefix + issuer + "#" + url.PathEscape(subject)
	return generators.Caller{ID: id, Name: name, Roles: roles}
}

// RolesIn returns the roles in a claim of a token, a text or a list of texts. The name of
// the claim has dots for members of members, unless the token has a claim of that name. What
// is no valid role is left out.
func RolesIn(claims map[string]any, name string) []string {
	var roles []string
	add := func(v any) {
		if role, ok := v.(string); ok && checkText("role", role) == nil && len(roles) < maxRoles {
			roles = append(roles, role)
		}
	}
	switch v := findClaim(claims, name).(type) {
	case string:
		add(v)
	case []any:
		for _, role := range v {
			add(role)
		}
	}
	return roles
}

func findClaim(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	first, rest, ok := strings.Cut(name, ".")
	if members, isObject := claims[first].(map[string]any); ok && isObject {
		return findClaim(members, rest)
	}
	return nil
}
