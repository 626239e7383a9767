package servecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
)

// Open signs another browser in.
type Open struct {
	Print bool `help:"Print the address without opening a browser."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*Open) Help() string {
	return "The address signs in the first browser that opens it, like the address that ${program} serve prints when it starts. It is valid for a day.\n\n    ${program} open\n    ${program} open --print"
}

// maxAddressLength bounds the owner's reply, in bytes.
const maxAddressLength = 4 << 10

// Run requests a sign-in address from the Beam that owns the folder and opens it.
func (c *Open) Run(ctx context.Context, p *command.Program) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	address, err := c.requestAddress(ctx, p, dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, address)
	if c.Print {
		return nil
	}
	browser.Stdout = p.Stderr
	file, err := datafolder.WriteRedirect(dir, address) // the address is not among the arguments of the browser
	if err != nil {
		return err
	}
	if err := browser.OpenURL(file); err != nil {
		return fmt.Errorf("no browser could be opened (%w): open the address yourself", err)
	}
	return nil
}

func (c *Open) requestAddress(ctx context.Context, p *command.Program, dir string) (string, error) {
	conn, owner, err := command.DialOwner(ctx, dir, app.RequestOpen, nil)
	switch {
	case errors.Is(err, controlsocket.ErrNoListener):
		return "", fmt.Errorf("no Beam owns the data folder %s: start one with %s serve, or name its folder with --data", dir, p.Command)
	case err != nil:
		return "", command.OwnerError(owner, dir, err)
	}
	var address string
	err = command.UseConn(ctx, conn, func(conn *controlsocket.Conn) error {
		raw, err := io.ReadAll(io.LimitReader(conn, maxAddressLength))
		address = strings.TrimSpace(string(raw))
		return err
	})
	if err != nil {
		return "", err
	}
	if !isPageURL(address) {
		return "", fmt.Errorf("%s has no page to sign in at; its log says why", command.DescribeOwner(owner))
	}
	return address, nil
}

// isPageURL reports whether an address that another process sent can be opened in
// a browser.
func isPageURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
