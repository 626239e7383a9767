package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// isJWT reports whether a token has the form of a signed JWT, whose header is JSON. Others
// are opaque.
func isJWT(token string) bool {
	header, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(header)
	return err == nil && strings.Count(token, ".") == 2 && json.Valid(raw) && len(raw) > 0 && raw[0] == '{'
}

// accessTokenTypes are the types that the header of an access token may name, in lower
// case (RFC 9068, section 2.1). Many issuers write JWT, or none; [claims.checkUse]
// recognizes what else those sign.
var accessTokenTypes = []string{"at+jwt", "application/at+jwt", "jwt", ""}

// verifyJWT verifies that the issuer has signed an access token, and returns its claims.
// Of the header, only the algorithm, the type and the key's id count: not the addresses
// of keys, or keys, which whoever made the token chooses.
func (v *Verifier) verifyJWT(ctx context.Context, token string) (claims, error) {
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return claims{}, invalidToken("the token is not a JWT with a signature of an algorithm that is accepted")
	}
	header := parsed.Headers[0]
	kind, ok := header.ExtraHeaders[jose.HeaderType].(string)
	if _, sent := header.ExtraHeaders[jose.HeaderType]; sent && !ok || !slices.Contains(accessTokenTypes, strings.ToLower(kind)) {
		return claims{}, invalidToken("the token is not an access token: the typ of its header is another")
	}
	keys, err := v.issuer.findKeys(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return claims{}, err
	}
	for _, key := range keys {
		var c claims
		if parsed.Claims(key.Key, &c.registered, &c.all) == nil {
			return c, v.checkJWT(&c)
		}
	}
	return claims{}, invalidToken("the signature of the token is wrong")
}

// checkJWT checks what a JWT must say, and an introspected token need not.
func (v *Verifier) checkJWT(c *claims) error {
	switch {
	case c.registered.Issuer != v.config.Issuer:
		return invalidToken("the token is of another issuer")
	case c.registered.Expiry == nil:
		return invalidToken("the token has no time at which it expires")
	}
	return nil
}
