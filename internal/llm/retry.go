package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How long Beam waits before it sends a request again.
const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 8 * time.Second
	maxWait      = time.Minute // the longest wait that an endpoint may ask for
)

// A refusal is an endpoint's error response.
type refusal struct {
	error
	final bool // sending the request again doesn't help
}

func (r *refusal) Unwrap() error { return r.error }

// readRefusal returns what is wrong, for people, and closes the response.
func (m *Model) readRefusal(response *http.Response) error {
	defer response.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	var body struct {
		Error  json.RawMessage
		Detail json.RawMessage // FastAPI's, as vLLM answers
		Code   string
	}
	said := ""
	if json.Unmarshal(raw, &body) == nil {
		for _, part := range []json.RawMessage{body.Error, body.Detail} {
			if said == "" && len(part) > 0 {
				said = errorMessage(part)
			}
		}
	}
	why := describeStatus(m, response.StatusCode)
	if said != "" {
		why += " It says: " + said
	}
	return &refusal{error: m.errorf("%s", why), final: strings.Contains(string(raw), "insufficient_quota")}
}

func describeStatus(m *Model, status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		if m.key == "" {
			return fmt.Sprintf("%s requires a key (status %d): name one in keyEnv or keyFile.", m.host, status)
		}
		return fmt.Sprintf("%s refused the key (status %d).", m.host, status)
	case status == http.StatusNotFound:
		return fmt.Sprintf("%s has no model %q, or no Chat Completions API (status 404).", m.host, m.ID)
	case status == http.StatusTooManyRequests:
		return fmt.Sprintf("%s allows no more requests for now (status 429).", m.host)
	case status == http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("The request is too large for %s (status 413).", m.host)
	case status >= 300 && status < 400:
		return fmt.Sprintf("%s redirects to another address (status %d), where Beam sends nothing: correct the endpoint.", m.host, status)
	case status >= 500:
		return fmt.Sprintf("%s has failed (status %d).", m.host, status)
	}
	return fmt.Sprintf("%s refused the request (status %d).", m.host, status)
}

// retryOr waits if a request is to be sent again, or returns why it isn't.
func (s *stream) retryOr(cause error, status, attempt int, header http.Header) error {
	m := s.model
	if attempt >= *m.Retries || !mayRetry(cause, status) {
		return cause
	}
	wait := backoff(attempt)
	if asked, ok := retryAfter(header); ok {
		wait = asked
	}
	if wait > maxWait {
		return m.errorf("%v It asks to wait for %s.", cause, wait.Round(time.Second))
	}
	m.postpone(time.Now().Add(wait))
	if !s.yield(Part{Notice: fmt.Sprintf("%v Sending the request again in %s.", cause, wait.Round(10*time.Millisecond))}, nil) {
		return errLeft
	}
	return nil
}

// describeFailure returns why there is no response, for people. It is final unless the
// request didn't reach the endpoint: otherwise the model may be working on it.
func (s *stream) describeFailure(err error) error {
	m := s.model
	if s.ctx.Err() != nil {
		return &refusal{error: s.ctx.Err(), final: true}
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return &refusal{error: m.errorf("%s can't be reached: %v.", m.host, op.Err)}
	}
	return &refusal{error: m.errorf("%s closed the connection without a response: %v.", m.host, err), final: true}
}

// mayRetry reports whether the endpoint has not begun to work on a request, and may take
// it later.
func mayRetry(cause error, status int) bool {
	var r *refusal
	if errors.As(cause, &r) && r.final {
		return false
	}
	switch status {
	case 0, http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529:
		return true
	}
	return false
}

func backoff(attempt int) time.Duration {
	wait := min(firstBackoff<<attempt, maxBackoff)
	return wait - time.Duration(rand.Int64N(int64(wait/4)))
}

// retryAfter returns how long the endpoint asks to wait, if it does.
func retryAfter(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return boundedDuration(ms / 1000), true
	}
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 {
		return boundedDuration(seconds), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// boundedDuration returns seconds as a duration of at most a year.
func boundedDuration(seconds float64) time.Duration {
	return time.Duration(min(seconds, 365*24*3600) * float64(time.Second))
}

// noteLimits postpones the next request if the endpoint says that it would refuse it.
func (m *Model) noteLimits(h http.Header) {
	for _, what := range []string{"Requests", "Tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+what) != "0" {
			continue
		}
		if wait, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what)); err == nil && wait > 0 {
			m.postpone(time.Now().Add(min(wait, maxWait)))
		}
	}
}

// postpone makes all requests to the model wait.
func (m *Model) postpone(until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if until.After(m.notBefore) {
		m.notBefore = until
	}
}

// waitForLimit waits until the endpoint takes requests again. The time doesn't count as
// idle.
func (s *stream) waitForLimit() error {
	s.model.mu.Lock()
	wait := time.Until(s.model.notBefore)
	s.model.mu.Unlock()
	if wait > 0 {
		s.idle.Stop()
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	s.idle.Reset(time.Duration(s.model.IdleTimeout))
	return nil
}
