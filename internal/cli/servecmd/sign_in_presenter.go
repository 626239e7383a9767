package servecmd

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"time"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/internal/datafolder"
)

// A signInPresenter shows the user of an MCP client where to answer the questions
// that don't travel over MCP.
type signInPresenter struct {
	openBrowser bool
	dir         string // where the page is written that the browser opens
	stderr      io.Writer
	logger      *slog.Logger
}

// show prints an address that signs a browser in, and opens it if the flags say so.
func (s *signInPresenter) show(address string) {
	u, err := url.Parse(address)
	if err != nil || !isPageURL(address) {
		s.logger.Error("this is not the address of a page", "address", address)
		return
	}
	fmt.Fprintf(s.stderr, "Questions that don't travel over MCP are answered at %s://%s\nSign in as its operator, once: %s\n", u.Scheme, u.Host, address)
	if !s.openBrowser {
		return
	}
	browser.Stdout = s.stderr // stdout is for MCP messages only
	go func() {
		if err := s.open(address); err != nil {
			s.logger.Warn("no browser could be opened", "err", err)
		}
	}()
}

// open opens a browser at an address, which is not among its arguments.
func (s *signInPresenter) open(address string) error {
	file, err := datafolder.WriteRedirect(s.dir, address)
	if err != nil { // the folder of a Beam that stores nothing
		file, err = datafolder.WriteRedirect(os.TempDir(), address)
	}
	if err != nil {
		return err
	}
	time.AfterFunc(datafolder.RedirectLifetime, func() { datafolder.RemoveRedirect(file) })
	return browser.OpenURL(file)
}
