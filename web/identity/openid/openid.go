// Package openid signs people in with an identity provider (OpenID Connect Core 1.0, the
// authorization code flow, with PKCE).
package openid

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/gorilla/securecookie"
	"golang.org/x/oauth2"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/identity"
)

// A Config says which provider vouches for people.
type Config struct {
	Issuer       string // its address, without a slash at the end if it has none
	ClientID     string
	ClientSecret string // empty for a public client
	// RolesClaim is the member of the ID token with a person's roles, a text or a list of
	// texts; with dots for a member of a member. Empty means that nobody has roles.
	RolesClaim string
	Scopes     []string // besides openid and profile
	// Site is where browsers reach Beam. The provider sends them back to Redirect of it.
	Site links.Site
	Keys identity.Keys // protect a sign-in that has begun
}

// Check returns what is wrong with the configuration.
func (c *Config) Check() error {
	u, err := url.Parse(c.Issuer)
	switch _, hasBase := c.Site.Base(); {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return errors.New("the issuer must be an address such as https://accounts.example.com, without a query")
	case u.Scheme != "https" && (u.Scheme != "http" || !links.IsLoopback(u.Hostname())):
		return errors.New("the issuer's address must begin with https://, unless it is on this machine")
	case c.ClientID == "":
		return errors.New("the client id is missing")
	case !hasBase:
		return errors.New("the address at which browsers reach Beam must be known, since the provider sends them back there")
	}
	return nil
}

// Limits on a sign-in.
const (
	attemptLifetime = 10 * time.Minute // from the first page to the last
	requestTimeout  = 10 * time.Second // of a request to the provider
	// personLifetime is how long a session lasts before the provider has to vouch again: it
	// may have removed the person, or a role.
	personLifetime = 12 * time.Hour
)

// A Provider signs people in. It finds out about the provider when the first person signs
// in, so that Beam starts without it. Its methods may be called from several goroutines.
type Provider struct {
	config Config
	cookie *securecookie.SecureCookie
	client *http.Client

	mu         sync.Mutex
	discovered *oidc.Provider // nil until it was reached
}

// New returns a provider. The configuration must be valid; see [Config.Check].
func New(c Config) *Provider {
	cookie := securecookie.New(c.Keys.Signing, c.Keys.Sealing)
	cookie.MaxAge(int(attemptLifetime.Seconds()))
	cookie.SetSerializer(securecookie.JSONEncoder{})
	return &Provider{config: c, cookie: cookie, client: &http.Client{Timeout: requestTimeout}}
}

// Name returns what people call the provider: its host.
func (p *Provider) Name() string {
	u, err := url.Parse(p.config.Issuer)
	if err != nil {
		return p.config.Issuer
	}
	return u.Hostname()
}

// An attempt is what the browser keeps of a sign-in that has begun. It ties the provider's
// response to this browser.
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // RFC 7636
	Next     string `json:"next"`     // the path to open afterwards
}

// discover returns what the provider says of itself, which it remembers.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.discovered != nil {
		return p.discovered, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of the issuer: %w", err)
	}
	p.discovered = found
	return found, nil
}

func (p *Provider) oauth(found *oidc.Provider) *oauth2.Config {
	base, _ := p.config.Site.Base() // Check has checked it
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: base.LoginCallback(), Scopes: append([]string{oidc.ScopeOpenID, "profile"}, p.config.Scopes...),
	}
}

// Begin begins a sign-in: it sets a cookie and returns the provider's address. Next is the
// path to open afterwards.
func (p *Provider) Begin(w http.ResponseWriter, r *http.Request, next string) (string, error) {
	found, err := p.discover(r.Context())
	if err != nil {
		return "", err
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next}
	value, err := p.cookie.Encode(p.cookieName(), a)
	if err != nil {
		return "", err
	}
	http.SetCookie(w, p.newCookie(r, value, int(attemptLifetime.Seconds())))
	return p.oauth(found).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

func (p *Provider) cookieName() string { return "beam_" + p.config.Keys.ID + "_openid" }

func (p *Provider) newCookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: p.cookieName(), Value: value, MaxAge: age, Path: p.config.Site.Path.Login(),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil || p.config.Site.Secure(),
	}
}

// A RefusedError means that the provider has not vouched for anybody. Its text is for
// people.
type RefusedError struct {
	Text  string
	Cause error // for the log; may be nil
}

func (e *RefusedError) Error() string { return e.Text }
func (e *RefusedError) Unwrap() error { return e.Cause }

// Finish finishes the sign-in that the browser began: it returns for whom the provider
// vouches, and the path to open. The error is a [*RefusedError].
func (p *Provider) Finish(w http.ResponseWriter, r *http.Request) (identity.Person, string, error) {
	var a attempt
	c, err := r.Cookie(p.cookieName())
	if err == nil {
		err = p.cookie.Decode(p.cookieName(), c.Value, &a)
	}
	http.SetCookie(w, p.newCookie(r, "", -1)) // it works once
	query := r.URL.Query()
	switch {
	case err != nil || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1:
		return identity.Person{}, "", &RefusedError{"This browser did not begin this sign-in, or it took too long. Sign in again.", err}
	case query.Has("iss") && query.Get("iss") != p.config.Issuer: // RFC 9207
		return identity.Person{}, "", &RefusedError{"Another identity provider responded. Sign in again.", fmt.Errorf("issuer %q", query.Get("iss"))}
	case query.Get("code") == "":
		return identity.Person{}, "", &RefusedError{"The identity provider did not sign you in.", fmt.Errorf("%q: %q", query.Get("error"), query.Get("error_description"))}
	}
	person, err := p.redeem(r.Context(), query.Get("code"), &a)
	if err != nil {
		return identity.Person{}, "", &RefusedError{"The identity provider's response was not valid. Sign in again.", err}
	}
	return person, a.Next, nil
}

// redeem exchanges a code for an ID token, and returns for whom it vouches.
func (p *Provider) redeem(ctx context.Context, code string, a *attempt) (identity.Person, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return identity.Person{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := p.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return identity.Person{}, err
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := found.Verifier(&oidc.Config{ClientID: p.config.ClientID}).Verify(ctx, raw)
	if err != nil {
		return identity.Person{}, err
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return identity.Person{}, errors.New("the nonce is another")
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return identity.Person{}, err
	}
	if azp, ok := claims["azp"].(string); (ok || len(token.Audience) > 1) && azp != p.config.ClientID {
		return identity.Person{}, errors.New("the token is for another client")
	}
	caller, err := callers.Check(callers.OpenID(token.Issuer, token.Subject, nameIn(claims), p.rolesIn(claims)))
	if err != nil {
		return identity.Person{}, err
	}
	return identity.Person{Caller: caller, Until: time.Now().Add(personLifetime)}, nil
}

// nameIn returns what people call the person. It identifies nobody: people may choose it.
func nameIn(claims map[string]any) string {
	for _, claim := range []string{"name", "preferred_username", "email"} {
		if name, ok := claims[claim].(string); ok && name != "" {
			return name
		}
	}
	sub, _ := claims["sub"].(string)
	return sub
}

// rolesIn returns the roles in the claim that has them.
func (p *Provider) rolesIn(claims map[string]any) []string {
	if p.config.RolesClaim == "" {
		return nil
	}
	return callers.RolesIn(claims, p.config.RolesClaim)
}
