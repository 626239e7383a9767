// Package programtest is for tests that start programs: it waits for what they
// print, and signs in with it.
package programtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
)

// A Console collects what a program prints. It may be used from several
// goroutines.
type Console struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed and replaced with each write
}

// NewConsole returns one on which nothing was printed.
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

// String is all that was printed.
func (c *Console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// WaitForLine waits for a line that has a text in it, and returns what follows it in
// that line.
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

// WaitForBaseURL waits until a Beam says where it listens.
func (c *Console) WaitForBaseURL(ctx context.Context) (string, error) {
	return c.WaitForLine(ctx, "Beam listens on ")
}

// SignIn makes a browser the operator's, once, with the address that a Beam
// prints.
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
