package app

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// A PageServer knows where the pages of an app are served, on which questions are
// answered that don't travel over MCP. If they aren't served yet, it starts to listen
// when the first such question needs a page.
type PageServer struct {
	app     *App
	listens bool // if the pages are not served yet

	mu      sync.Mutex
	baseURL string
	stop    func()
}

// NewPageServer returns the page server of an app whose pages nobody serves yet. The
// caller must close it.
func NewPageServer(a *App) *PageServer { return &PageServer{app: a, listens: true} }

// NewServedPages returns the page server of an app whose pages are served at baseURL,
// which is empty if it isn't known where.
func NewServedPages(a *App, baseURL string) *PageServer {
	a.ownPages.add(baseURL)
	return &PageServer{app: a, baseURL: baseURL}
}

// errNoPages is the error if the URL of the pages is needed and not known.
var errNoPages = errors.New("the program's Config.URL doesn't say where Beam's pages are")

// BaseURL returns the base URL of the pages that are served on l, with a scheme.
func BaseURL(scheme string, l net.Listener) string {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("%s://localhost:%d", scheme, tcp.Port)
	}
	return scheme + "://" + l.Addr().String()
}

// BaseURLFunc returns a function for one MCP client that returns the base URL of
// the pages, starting to listen if need be. Its first call also passes present, unless
// it is nil, an address that signs a browser in, if people sign in with Beam.
func (p *PageServer) BaseURLFunc(present func(address string)) func() (string, error) {
	var once sync.Once
	return func() (string, error) {
		base, err := p.ensureBaseURL()
		if err == nil && present != nil && p.app.signsIn {
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
	if !p.listens {
		return "", errNoPages
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("can't serve the page for this question: %w", err)
	}
	server := p.app.newHTTPServer()
	go server.Serve(l)
	p.baseURL, p.stop = BaseURL("http", l), func() { server.Close() }
	p.app.SetBaseURL(p.baseURL)
	p.app.ownPages.add(p.baseURL)
	return p.baseURL, nil
}

// knownBaseURL returns the base URL of the pages, or "" if they are not served.
func (p *PageServer) knownBaseURL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.baseURL
}
