package cli

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"

	"github.com/cli/browser"
)

// pageServer are Beam's own pages, brought up when the first question needs one,
// unless they are served anyway.
type pageServer struct {
	app *app

	mu   sync.Mutex
	url  string
	stop func()
}

// ensureBaseURL returns where the pages are.
func (p *pageServer) ensureBaseURL() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.url != "" {
		return p.url, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("the page for this question can't be served: %w", err)
	}
	server := p.app.newHTTPServer()
	go server.Serve(l)
	p.url, p.stop = baseURL(l.Addr()), func() { server.Close() }
	return p.url, nil
}

// knownBaseURL is the origin of the pages, if they are served.
func (p *pageServer) knownBaseURL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url
}

// baseURLFunc is origin for one MCP client: its person is invited, once, by an
// address that signs a browser in.
func (p *pageServer) baseURLFunc(invite func(address string)) func() (string, error) {
	var once sync.Once
	return func() (string, error) {
		at, err := p.ensureBaseURL()
		if err == nil {
			once.Do(func() { invite(at + p.app.web.SignInPath() + "&next=/asks") })
		}
		return at, err
	}
}

func (p *pageServer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
}

// A signInPresenter shows the person in front of an MCP client where questions wait
// that don't travel through it.
type signInPresenter struct {
	openBrowser bool // opens the browser
	stderr      io.Writer
	logger      *slog.Logger
}

func (i *signInPresenter) show(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		i.logger.Error("this is no address of a page", "address", address)
		return
	}
	fmt.Fprintf(i.stderr, "Questions that don't travel over MCP are answered at %s://%s\nSign in as its operator, once: %s\n", u.Scheme, u.Host, address)
	if !i.openBrowser {
		return
	}
	browser.Stdout = i.stderr // stdout is for messages alone
	go func() {
		if err := browser.OpenURL(address); err != nil {
			i.logger.Warn("no browser could be opened", "err", err)
		}
	}()
}
