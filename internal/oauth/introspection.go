package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Limits on introspection.
const (
	rememberActive   = 30 * time.Second // so long, at most, a revoked token is accepted
	rememberInactive = 5 * time.Second
	maxRemembered    = 10_000
	maxIntrospecting = 16 // requests at once
)

// An introspection asks the issuer about tokens (RFC 7662), and remembers the answers for
// a short time.
type introspection struct {
	issuer     *issuer
	id, secret string
	logger     *slog.Logger
	slots      chan struct{} // holds a token for each request in progress

	mu     sync.Mutex
	recent map[[sha256.Size]byte]introspected // by the hash of the token
}

// introspected is what the issuer says of a token.
type introspected struct {
	claims claims
	active bool
	until  time.Time // when to ask again
}

func newIntrospection(i *issuer, id, secret string, logger *slog.Logger) *introspection {
	return &introspection{
		issuer: i, id: id, secret: secret, logger: logger,
		slots: make(chan struct{}, maxIntrospecting), recent: make(map[[sha256.Size]byte]introspected),
	}
}

// ask returns the claims of an active access token. The error is a [*Refusal].
func (i *introspection) ask(ctx context.Context, token string) (claims, error) {
	key := sha256.Sum256([]byte(token))
	found, ok := i.recall(key)
	if !ok {
		select {
		case i.slots <- struct{}{}:
			defer func() { <-i.slots }()
		case <-ctx.Done():
			return claims{}, errUnavailable
		}
		found, ok = i.recall(key) // another request may have asked
	}
	if !ok {
		var err error
		if found, err = i.request(ctx, token); err != nil {
			if ctx.Err() == nil {
				i.logger.Warn("the authorization server doesn't introspect a token", "issuer", i.issuer.url, "err", err)
			}
			return claims{}, errUnavailable
		}
		i.remember(key, found)
	}
	if !found.active {
		return claims{}, invalidToken("the token is unknown, has expired or was revoked")
	}
	return found.claims, nil
}

// request asks the issuer.
func (i *introspection) request(ctx context.Context, token string) (introspected, error) {
	m, err := i.issuer.getMetadata(ctx)
	if err != nil {
		return introspected{}, err
	}
	if m.IntrospectionEndpoint == "" {
		return introspected{}, errors.New("its metadata has no introspection_endpoint")
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.IntrospectionEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return introspected{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(i.id), url.QueryEscape(i.secret)) // RFC 6749, section 2.3.1
	var raw json.RawMessage
	if err := sendJSON(i.issuer.client, r, &raw); err != nil {
		return introspected{}, err
	}
	return parseIntrospected(raw)
}

// parseIntrospected parses the issuer's answer. It reads only of an active token what
// else is said of it.
func parseIntrospected(raw json.RawMessage) (introspected, error) {
	var c claims
	if err := json.Unmarshal(raw, &c.all); err != nil {
		return introspected{}, errors.New("its answer is not a JSON object")
	}
	active, ok := c.all["active"].(bool)
	switch {
	case !ok:
		return introspected{}, errors.New("its answer doesn't say whether the token is active")
	case !active:
		return introspected{until: time.Now().Add(rememberInactive)}, nil
	}
	if err := json.Unmarshal(raw, &c.registered); err != nil {
		return introspected{}, errors.New("its answer has claims of a wrong type")
	}
	// A refresh token is active, too, and only the token's type tells.
	if kind, _ := c.all["token_type"].(string); !strings.EqualFold(kind, "Bearer") {
		return introspected{until: time.Now().Add(rememberInactive)}, nil
	}
	return introspected{claims: c, active: true, until: time.Now().Add(rememberActive)}, nil
}

// recall returns what was said of a token, if that was recent.
func (i *introspection) recall(key [sha256.Size]byte) (introspected, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	found, ok := i.recent[key]
	return found, ok && time.Now().Before(found.until)
}

// remember stores what was said of a token. If there are too many, it forgets those that
// are no longer recent or, if all are, all.
func (i *introspection) remember(key [sha256.Size]byte, answer introspected) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.recent) >= maxRemembered {
		now := time.Now()
		for k, old := range i.recent {
			if now.After(old.until) {
				delete(i.recent, k)
			}
		}
		if len(i.recent) >= maxRemembered {
			clear(i.recent)
		}
	}
	i.recent[key] = answer
}
