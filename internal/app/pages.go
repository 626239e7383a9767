package app

import (
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/links"
)

// A baseURL is the base URL of the pages, once it is known. It may be used from several
// goroutines.
type baseURL struct {
	mu  sync.Mutex
	url string
}

func (b *baseURL) get() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.url
}

func (b *baseURL) set(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.url = url
}

// runURL returns the address of a run's page; "" if it isn't known.
func (a *App) runURL(run string) string {
	base := a.baseURL.get()
	if base == "" {
		return ""
	}
	return links.Base(base).Run(run)
}

// SetBaseURL says at which base URL browsers reach the pages.
func (a *App) SetBaseURL(base string) { a.baseURL.set(base) }

// AddPages says that the pages are served at another base URL, too.
func (a *App) AddPages(base string) { a.ownPages.add(base) }

// SignInURL returns a new single-use URL below base, the base URL of the pages. The
// first browser that opens it is signed in as the operator. It returns "" if the program
// identifies callers itself.
func (a *App) SignInURL(base string) string {
	if !a.signsIn {
		return ""
	}
	return a.web.SignInURL(base)
}

// WriteSignInRedirect is [datafolder.WriteRedirect] in the app's folder. The file is removed after
// a while, or when the app is closed.
func (a *App) WriteSignInRedirect(address string) (string, error) {
	a.removeRedirectsLater()
	return datafolder.WriteRedirect(a.folder.Dir, address)
}

// removeRedirectsLater removes the redirect files once they have served.
func (a *App) removeRedirectsLater() {
	time.AfterFunc(datafolder.RedirectLifetime+time.Second, func() { datafolder.RemoveRedirects(a.folder.Dir, datafolder.RedirectLifetime) })
}
