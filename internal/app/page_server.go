package app

import (
	"fmt"
	"net"
	"sync"
)

// A PageServer serves the pages of an app where questions are answered that don't
// travel over MCP. Unless the app serves them anyway, it starts to listen when
// the first such question needs a page.
type PageServer struct {
	app *App

	mu      sync.Mutex
	baseURL string
	stop    func()
}

// NewPageServer returns the page server of an app. baseURL is where the app
// serves the pages anyway; empty if it doesn't.
func NewPageServer(a *App, baseURL string) *PageServer {
	return &PageServer{app: a, baseURL: baseURL}
}

// BaseURL returns the base URL of the pages that are served on l.
func BaseURL(l net.Listener) string {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", tcp.Port)
	}
	return "http://" + l.Addr().String()
}

// BaseURLFunc returns a function for one MCP client that returns the base URL of
// the pages, starting to listen if need be. Its first call also passes present
// an address that signs a browser in.
func (p *PageServer) BaseURLFunc(present func(address string)) func() (string, error) {
	var once sync.Once
	return func() (string, error) {
		base, err := p.ensureBaseURL()
		if err == nil {
			once.Do(func() { present(p.app.web.SignInToInboxURL(base)) })
		}
		return base, err
	}
}

// Close stops listening, if the page server itself listens.
func (p *PageServer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
}

// ensureBaseURL returns the base URL of the pages, and listens if they are not
// served yet.
func (p *PageServer) ensureBaseURL() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.baseURL != "" {
		return p.baseURL, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("can't serve the page for this question: %w", err)
	}
	server := p.app.newHTTPServer()
	go server.Serve(l)
	p.baseURL, p.stop = BaseURL(l), func() { server.Close() }
	return p.baseURL, nil
}

// knownBaseURL returns the base URL of the pages, or "" if they are not served.
func (p *PageServer) knownBaseURL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.baseURL
}
