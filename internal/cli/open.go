package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/internal/controlsocket"
)

// openCommand is the command that signs another browser in.
type openCommand struct {
	Print bool `help:"Print the address, and open nothing."`

	dataFolderFlags
}

// Help is what --help says beside the flags.
func (*openCommand) Help() string {
	return "The address signs the first browser in that opens it, as the one that ${program} serve prints at its start does, and is good for a day."
}

// maxAddressLength bounds what the owner of the folder may answer, in bytes.
const maxAddressLength = 4 << 10

// Run asks the Beam that owns the folder for an address to sign in at.
func (c *openCommand) Run(ctx context.Context, p *program) error {
	dir, err := resolveDataDir(c.Data)
	if err != nil {
		return err
	}
	conn, owner, err := c.dialOwner(ctx, dir, requestOpen, nil)
	switch {
	case errors.Is(err, controlsocket.ErrNoListener):
		return fmt.Errorf("no Beam owns the data folder %s: start one with %s serve, or name its folder with --data", dir, p.name)
	case err != nil:
		return fmt.Errorf("%s owns the data folder %s, and can't do this: %w", describeOwner(owner), dir, err)
	}
	var address string
	err = useConn(ctx, conn, func(conn *controlsocket.Conn) error {
		raw, err := io.ReadAll(io.LimitReader(conn, maxAddressLength))
		address = strings.TrimSpace(string(raw))
		return err
	})
	if err != nil {
		return err
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s has no page to sign in at; its log says why", describeOwner(owner))
	}
	fmt.Fprintln(p.stdout, address)
	if c.Print {
		return nil
	}
	browser.Stdout = p.stderr
	if err := browser.OpenURL(address); err != nil {
		return fmt.Errorf("no browser could be opened (%w): open the address in one", err)
	}
	return nil
}

// handleOpen tells a process that joined where to sign in.
func (h *controlServer) handleOpen(_ context.Context, r *controlsocket.Request) {
	at, err := h.pages.ensureBaseURL()
	if err != nil {
		h.logger.Error("bringing up the pages", "err", err)
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "its pages can't be served; its log says why"))
		return
	}
	if r.Accept() == nil {
		fmt.Fprintln(r, at+h.web.SignInPath())
	}
}
