package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
)

// openCommand signs another browser in.
type openCommand struct {
	Print bool `help:"Print the address without opening a browser."`

	dataFolderFlags
}

// Help returns what --help says besides the flags.
func (*openCommand) Help() string {
	return "The address signs in the first browser that opens it, like the address that ${program} serve prints when it starts. It is valid for a day.\n\n    ${program} open\n    ${program} open --print"
}

// maxAddressLength bounds the owner's reply, in bytes.
const maxAddressLength = 4 << 10

// Run requests a sign-in address from the Beam that owns the folder and opens it.
func (c *openCommand) Run(ctx context.Context, p *program) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	address, err := c.requestAddress(ctx, p, dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, address)
	if c.Print {
		return nil
	}
	browser.Stdout = p.stderr
	file, err := datafolder.WriteRedirect(dir, address) // the address is not among the arguments of the browser
	if err != nil {
		return err
	}
	if err := browser.OpenURL(file); err != nil {
		return fmt.Errorf("no browser could be opened (%w): open the address yourself", err)
	}
	return nil
}

func (c *openCommand) requestAddress(ctx context.Context, p *program, dir string) (string, error) {
	conn, owner, err := dialOwner(ctx, dir, app.RequestOpen, nil)
	switch {
	case errors.Is(err, controlsocket.ErrNoListener):
		return "", fmt.Errorf("no Beam owns the data folder %s: start one with %s serve, or name its folder with --data", dir, p.command)
	case err != nil:
		return "", ownerError(owner, dir, err)
	}
	var address string
	err = useConn(ctx, conn, func(conn *controlsocket.Conn) error {
		raw, err := io.ReadAll(io.LimitReader(conn, maxAddressLength))
		address = strings.TrimSpace(string(raw))
		return err
	})
	if err != nil {
		return "", err
	}
	if !isPageURL(address) {
		return "", fmt.Errorf("%s has no page to sign in at; its log says why", describeOwner(owner))
	}
	return address, nil
}

// isPageURL reports whether an address that another process sent can be opened in
// a browser.
func isPageURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
