// Package programtest helps tests that start programs: it waits for their output and
// signs in as the operator. It also polls what announces no change.
package programtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"time"
)

// ExitTimeout is how long a program may take to end in a test. Beam's grace periods
// add up to less than 2 seconds, after which MCP clients kill their servers; the rest
// is for a busy machine.
const ExitTimeout = 20 * time.Second

// A Console collects what a program prints. It may be used from several
// goroutines.
type Console struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed and replaced with each write
}

// NewConsole returns an empty console.
func NewConsole() *Console { return &Console{changed: make(chan struct{})} }

// Write implements [io.Writer].
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(p)
	close(c.changed)
	c.changed = make(chan struct{})
	return len(p), nil
}

// String returns everything that was printed.
func (c *Console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// WaitForLine waits for a line that contains text and returns the rest of the
// line after it. The error says what was printed instead, when ctx ends.
func (c *Console) WaitForLine(ctx context.Context, text string) (string, error) {
	for {
		c.mu.Lock()
		all, changed := c.text.String(), c.changed
		c.mu.Unlock()
		for line := range strings.Lines(all) {
			if _, rest, ok := strings.Cut(line, text); ok && strings.HasSuffix(line, "\n") {
				return strings.TrimSpace(rest), nil
			}
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("no line with %q was printed, but this:\n%s", text, all)
		case <-changed:
		}
	}
}

// WaitForBaseURL waits until Beam prints the URL at which it listens.
func (c *Console) WaitForBaseURL(ctx context.Context) (string, error) {
	return c.WaitForLine(ctx, "Beam listens on ")
}

// SignIn returns a browser that is signed in as the operator, with the one-time
// URL that Beam prints.
func (c *Console) SignIn(ctx context.Context) (*http.Client, error) {
	address, err := c.WaitForLine(ctx, "Sign in as its operator, once: ")
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := browser.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("signing in: %s", response.Status)
	}
	return browser, nil
}
