package request

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/web/internal/problem"
)

// MaxText is the longest text to search for, in bytes.
const MaxText = 200

// Ordinal parses a parameter that is the ordinal of a log entry; 0 if it is missing.
func Ordinal(query url.Values, name string) (uint64, error) {
	text := query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, problem.Errorf(http.StatusBadRequest, "The parameter %s must be the number of a log entry.", name)
	}
	return n, nil
}

// Limit parses the parameter limit.
func Limit(query url.Values, most int) (int, error) {
	text := query.Get("limit")
	if text == "" {
		return most, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, problem.Errorf(http.StatusBadRequest, "The parameter limit must be a number from 1 to %d.", most)
	}
	return n, nil
}

// maxIdempotencyKey is the longest Idempotency-Key, in bytes. The log keeps the key.
const maxIdempotencyKey = 255

// IdempotencyKey returns the header of this name; empty if there is none.
func IdempotencyKey(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxIdempotencyKey {
		return "", problem.Errorf(http.StatusBadRequest, "The Idempotency-Key must be at most %d bytes long.", maxIdempotencyKey)
	}
	return key, nil
}

// Text returns a parameter that is a text to search for.
func Text(query url.Values, name string) (string, error) {
	text := strings.TrimSpace(query.Get(name))
	if len(text) > MaxText {
		return "", problem.Errorf(http.StatusBadRequest, "The parameter %s must be at most %d bytes long.", name, MaxText)
	}
	return text, nil
}
