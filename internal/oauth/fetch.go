package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Limits on requests to the issuer.
const (
	fetchTimeout = 10 * time.Second
	maxResponse  = 1 << 20 // bytes
)

// newClient returns an HTTP client that follows no redirects, so that only those URLs are
// requested that the issuer's metadata names. Transport may be nil.
func newClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A statusError is a response other than 200.
type statusError struct {
	url    string
	status int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s responds with status %d %s", e.url, e.status, http.StatusText(e.status))
}

// fetchJSON requests an address and decodes the response into v. The error names the URL.
func fetchJSON(ctx context.Context, client *http.Client, address string, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	return sendJSON(client, r, v)
}

// sendJSON sends a request and decodes the response into v.
func sendJSON(client *http.Client, r *http.Request, v any) error {
	if err := checkSecure(r.URL); err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return withoutQuery(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &statusError{r.URL.String(), res.StatusCode}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	switch {
	case err != nil:
		return fmt.Errorf("reading %s: %w", r.URL, err)
	case len(body) > maxResponse:
		return fmt.Errorf("%s sends more than %d bytes", r.URL, maxResponse)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%s sends no valid JSON: %w", r.URL, err)
	}
	return nil
}

// withoutQuery returns the error of a request with its URL and without what libraries
// add.
func withoutQuery(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return fmt.Errorf("can't reach %s: %w", failed.URL, failed.Err)
	}
	return err
}
