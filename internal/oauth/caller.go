package oauth

import (
	"cmp"
	"net/url"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

// maxRoles is how many roles of a token count.
const maxRoles = 100

// caller returns the person for whom the issuer has made the token.
func (c *claims) caller(issuer, rolesClaim string) (generators.Caller, error) {
	person := generators.Caller{ID: "oidc:" + issuer + "#" + url.PathEscape(c.registered.Subject)}
	name, _ := c.all["name"].(string)
	userName, _ := c.all["preferred_username"].(string)
	person.Name = cmp.Or(name, userName)
	if rolesClaim != "" {
		roles := listOf(c.find(rolesClaim))
		person.Roles = roles[:min(len(roles), maxRoles)]
	}
	person, err := callers.Check(person)
	if err != nil {
		return generators.Caller{}, invalidToken("the subject or a role of the token is too long, or has control characters")
	}
	return person, nil
}
