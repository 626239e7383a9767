package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/datastar"
)

// serveCommand serves the playground.
type serveCommand struct {
	Addr      string   `default:"127.0.0.1:3008" placeholder:"HOST:PORT" help:"Address to listen on (default ${default}). Port 0 chooses a free one. An address that other machines can reach requires --token."`
	Token     string   `placeholder:"SECRET" help:"Token that everyone must present: scripts as 'Authorization: Bearer', browsers on the sign-in page. Set it as $$BEAM_TOKEN to keep it out of the list of processes."`
	AllowHost []string `placeholder:"NAME" help:"Host name that requests may use to reach Beam, besides localhost. Can be repeated."`
	Open      bool     `help:"Open the playground in the browser, signed in."`

	appFlags
}

// Validate checks the flags; kong calls it.
func (s *serveCommand) Validate() error {
	if err := s.appFlags.validate(); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("--addr %q is not an address: it must be HOST:PORT, as in 127.0.0.1:3008", s.Addr)
	}
	if s.Token == "" && !isLoopback(host) {
		return fmt.Errorf("--addr %s can be reached from other machines: that requires --token", s.Addr)
	}
	return nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// Run serves until ctx ends.
func (s *serveCommand) Run(ctx context.Context, p *program) (err error) {
	folder, err := s.openFolder()
	if errors.Is(err, app.ErrFolderInUse) {
		err = s.folderInUseError(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()

	config := s.config(p, folder, s.newLogger(p))
	config.AllowedHosts, config.Token = s.allowedHosts(), s.Token
	a, err := newApp(ctx, config)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return explainListenError(s.Addr, err)
	}
	base := app.BaseURL(listener)
	s.printAddresses(p, a, base)
	a.ServeControlSocket(ctx, p.name+serveSuffix, s.Root, app.NewPageServer(a, base))
	return a.Serve(ctx, listener)
}

// allowedHosts returns the host names that requests may use.
func (s *serveCommand) allowedHosts() []string {
	var hosts []string
	for _, h := range s.AllowHost {
		hosts = append(hosts, strings.ToLower(h))
	}
	host, _, _ := net.SplitHostPort(s.Addr) // Validate has checked it
	if addr, err := netip.ParseAddr(host); err == nil && !addr.IsUnspecified() {
		hosts = append(hosts, addr.String())
	} else if err != nil && host != "" {
		hosts = append(hosts, strings.ToLower(host))
	}
	return hosts
}

// printAddresses prints the address of the playground, and opens it if the flags
// say so.
func (s *serveCommand) printAddresses(p *program, a *app.App, base string) {
	fmt.Fprintf(p.stdout, "Beam listens on %s\n", base)
	fmt.Fprintf(p.stdout, "Sign in as its operator, once: %s\n", a.SignInURL(base))
	if !a.HasScript() {
		fmt.Fprintln(p.stdout, "The pages are plain: the program was built without their script, Datastar.", datastar.HowToAdd())
	}
	if s.Open {
		address := a.SignInURL(base)
		go func() { // some commands that open a browser run as long as it does
			if err := browser.OpenURL(address); err != nil {
				p.messagef("no browser could be opened: %s", err)
			}
		}()
	}
}

// explainListenError says what the user can do if Beam can't listen on an
// address.
func explainListenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use by another program, maybe another Beam: choose another address with --addr", addr)
	}
	return fmt.Errorf("can't listen on %s: %w", addr, errors.Unwrap(err))
}
