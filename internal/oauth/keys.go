package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// algorithms are those that tokens may be signed with. All have a public key: with a
// shared one, everyone who can verify a token could make one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Limits on an issuer's keys.
const (
	maxKeys    = 100
	minRSABits = 2048
)

// A keySet holds the keys with which an issuer signs.
type keySet []jose.JSONWebKey

// fetchKeys returns the keys at an address that can verify a signature. It ignores others.
func fetchKeys(ctx context.Context, client *http.Client, address string) (keySet, error) {
	if address == "" {
		return nil, errors.New("the issuer's metadata has no jwks_uri")
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := fetchJSON(ctx, client, address, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%s has more than %d keys", address, maxKeys)
	}
	var keys keySet
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && isVerifying(key) {
			keys = append(keys, key)
		}
	}
	if !keys.isUsable() {
		return nil, fmt.Errorf("%s has no public key for signatures", address)
	}
	return keys, nil
}

// isVerifying reports whether a key can verify a token.
func isVerifying(key jose.JSONWebKey) bool {
	if !key.Valid() || key.Use != "" && key.Use != "sig" {
		return false
	}
	public, ok := key.Key.(*rsa.PublicKey)
	return key.IsPublic() && (!ok || public.N.BitLen() >= minRSABits)
}

func (k keySet) isUsable() bool { return len(k) > 0 }

// find returns the keys that a signature may be of. Id is empty if it isn't known.
func (k keySet) find(id, algorithm string) (found keySet) {
	for _, key := range k {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == algorithm) && fits(key, algorithm) {
			found = append(found, key)
		}
	}
	return found
}

// fits reports whether a key is of the type that an algorithm needs.
func fits(key jose.JSONWebKey, algorithm string) bool {
	switch key.Key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(algorithm, "ES")
	case ed25519.PublicKey:
		return algorithm == string(jose.EdDSA)
	}
	return false
}
