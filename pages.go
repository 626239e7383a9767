package beam

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"

	"github.com/cli/browser"
)

// pages are Beam's own pages, brought up when the first question needs one,
// unless they are served anyway.
type pages struct {
	running *running

	mu      sync.Mutex
	address string
	end     func()
}

// origin returns where the pages are.
func (p *pages) origin() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.address != "" {
		return p.address, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("the page for this question can't be served: %w", err)
	}
	server := p.running.newHTTPServer()
	go server.Serve(l)
	p.address, p.end = origin(l.Addr()), func() { server.Close() }
	return p.address, nil
}

// known is the origin of the pages, if they are served.
func (p *pages) known() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// inviting is origin for one MCP client: its person is invited, once, by an
// address that signs a browser in.
func (p *pages) inviting(invite func(address string)) func() (string, error) {
	var once sync.Once
	return func() (string, error) {
		at, err := p.origin()
		if err == nil {
			once.Do(func() { invite(at + p.running.site.SignInPath() + "&next=/asks") })
		}
		return at, err
	}
}

func (p *pages) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		p.end()
	}
}

// An inviter shows the person in front of an MCP client where questions wait
// that don't travel through it.
type inviter struct {
	open   bool // opens the browser
	stderr io.Writer
	logger *slog.Logger
}

func (i *inviter) invite(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		i.logger.Error("this is no address of a page", "address", address)
		return
	}
	fmt.Fprintf(i.stderr, "Questions that don't travel over MCP are answered at %s://%s\nSign in as its operator, once: %s\n", u.Scheme, u.Host, address)
	if !i.open {
		return
	}
	browser.Stdout = i.stderr // stdout is for messages alone
	go func() {
		if err := browser.OpenURL(address); err != nil {
			i.logger.Warn("no browser could be opened", "err", err)
		}
	}()
}
