package oauth

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

// claims are what the issuer says of a token.
type claims struct {
	registered jwt.Claims
	all        map[string]any
}

// clockSkew is how much the clocks of the issuer and of this machine may differ.
const clockSkew = time.Minute

// callerOf returns the person of a token for a resource. The error is a [*Refusal].
func (v *Verifier) callerOf(c claims, resource string) (generators.Caller, error) {
	expected := jwt.Expected{AnyAudience: jwt.Audience{resource}, Time: time.Now()}
	if c.registered.Issuer != "" { // of a JWT, it is required
		expected.Issuer = v.config.Issuer
	}
	if err := c.registered.ValidateWithLeeway(expected, clockSkew); err != nil {
		return generators.Caller{}, invalidToken(describeInvalid(err, resource))
	}
	if err := c.checkUse(); err != nil {
		return generators.Caller{}, err
	}
	if c.registered.Subject == "" {
		return generators.Caller{}, invalidToken("the token has no subject: it stands for nobody")
	}
	granted := c.scopes()
	if slices.ContainsFunc(v.config.Scopes, func(s string) bool { return !slices.Contains(granted, s) }) {
		return generators.Caller{}, &Refusal{http.StatusForbidden, "insufficient_scope", "the token needs the scope " + strings.Join(v.config.Scopes, " ")}
	}
	return v.person(c)
}

// describeInvalid says what is wrong with the claims of a token.
func describeInvalid(err error, resource string) string {
	switch {
	case errors.Is(err, jwt.ErrInvalidAudience):
		return "the token is not for " + resource
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return "the token is of another issuer"
	case errors.Is(err, jwt.ErrExpired):
		return "the token has expired"
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return "the token is not valid yet"
	}
	return "the claims of the token are invalid"
}

// checkUse returns an error for what an issuer signs that is no access token, and for
// access tokens that only the holder of a key may use, which Beam can't check.
func (c *claims) checkUse() error {
	for _, name := range []string{"nonce", "at_hash", "c_hash", "s_hash", "events"} { // of ID tokens, logout tokens
		if _, ok := c.all[name]; ok {
			return invalidToken("the token is not an access token")
		}
	}
	for name, use := range map[string][]string{"typ": {"bearer"}, "token_use": {"access", "access_token"}} { // of Keycloak; of Cognito and Hydra
		if is, ok := c.all[name].(string); ok && !slices.Contains(use, strings.ToLower(is)) {
			return invalidToken("the token is not an access token that its bearer may use")
		}
	}
	if _, ok := c.all["cnf"]; ok { // RFC 7800
		return invalidToken("the token is bound to a key, which is not supported: request one that is not")
	}
	return nil
}

// scopes returns the scopes that the token has been granted.
func (c *claims) scopes() []string {
	return append(listOf(c.all["scope"]), listOf(c.all["scp"])...) // scp is that of Okta and Entra
}

// listOf returns the words of a claim, which issuers write as a list or as a text.
func listOf(claim any) (words []string) {
	switch claim := claim.(type) {
	case string:
		return strings.Fields(claim)
	case []any:
		for _, v := range claim {
			if s, ok := v.(string); ok {
				words = append(words, s)
			}
		}
	}
	return words
}

// person returns the caller whom the issuer says that the token stands for.
func (v *Verifier) person(c claims) (generators.Caller, error) {
	name, _ := c.all["name"].(string)
	userName, _ := c.all["preferred_username"].(string)
	var roles []string
	if v.config.RolesClaim != "" {
		roles = callers.RolesIn(c.all, v.config.RolesClaim)
	}
	person, err := callers.Check(callers.OpenID(v.config.Issuer, c.registered.Subject, cmp.Or(name, userName), roles))
	if err != nil {
		return generators.Caller{}, invalidToken("the subject of the token is too long")
	}
	return person, nil
}
