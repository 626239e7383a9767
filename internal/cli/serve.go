package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/web"
)

// serveCommand is the command that serves the playground.
type serveCommand struct {
	Addr      string   `default:"127.0.0.1:3008" placeholder:"HOST:PORT" help:"Address to listen on (default ${default}). Port 0 takes a free one. An address that other machines reach needs --token."`
	Token     string   `placeholder:"SECRET" help:"What everybody must present: scripts as 'Authorization: Bearer', browsers at /login. Set it as $$BEAM_TOKEN, where the list of processes doesn't show it."`
	AllowHost []string `placeholder:"NAME" help:"A host name that requests may use to reach Beam, besides localhost. May be repeated."`
	Open      bool     `help:"Open the playground in the browser, signed in."`

	appFlags
}

// How long the end may take: runs that work may go on, then connections may
// finish.
const (
	runDrainTimeout        = 5 * time.Second
	connectionDrainTimeout = 2 * time.Second
)

// The most that people can have open. Each waiting question costs some
// kilobytes.
var askLimits = ask.Policy{OpenPerRun: ask.MaxAtOnce, OpenPerOwner: 30_000}

// Validate is called once the flags are read.
func (s *serveCommand) Validate() error {
	if err := s.appFlags.validate(); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("--addr %q is no address: it is to be HOST:PORT, as in 127.0.0.1:3008", s.Addr)
	}
	if s.Token == "" && !isLoopback(host) {
		return fmt.Errorf("--addr %s can be reached from other machines: that needs --token", s.Addr)
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
	logger := s.newLogger(p)
	store, err := s.openFolder()
	if errors.Is(err, errFolderInUse) {
		err = s.folderInUseError(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.close()) }()

	b, err := s.startApp(ctx, p, store, logger, web.Config{Hosts: s.allowedHosts(), Token: s.Token})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return explainListenError(s.Addr, err)
	}
	base := baseURL(listener.Addr())
	s.printAddresses(p, b.web, base)
	b.serveControlSocket(ctx, store, p.name+serveSuffix, s.Root, &pageServer{app: b, url: base})
	return b.serveAndDrain(ctx, listener)
}

// allowedHosts are the host names that requests may use.
func (s *serveCommand) allowedHosts() []string {
	var hosts []string
	for _, h := range s.AllowHost {
		hosts = append(hosts, strings.ToLower(h))
	}
	host, _, _ := net.SplitHostPort(s.Addr) // Validate has split it
	if addr, err := netip.ParseAddr(host); err == nil && !addr.IsUnspecified() {
		hosts = append(hosts, addr.String())
	} else if err != nil && host != "" {
		hosts = append(hosts, strings.ToLower(host))
	}
	return hosts
}

// baseURL is that of the pages that are served at an address.
func baseURL(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", tcp.Port)
	}
	return "http://" + addr.String()
}

// printAddresses says where the playground is.
func (s *serveCommand) printAddresses(p *program, site *web.Server, base string) {
	fmt.Fprintf(p.stdout, "Beam listens on %s\n", base)
	fmt.Fprintf(p.stdout, "Sign in as its operator, once: %s%s\n", base, site.SignInPath())
	if !site.HasScript() {
		fmt.Fprintln(p.stdout, "The pages are plain: Beam was built without their script (go generate ./static fetches it).")
	}
	if s.Open {
		address := base + site.SignInPath()
		go func() { // some openers end only with the browser
			if err := browser.OpenURL(address); err != nil {
				p.messagef("no browser could be opened: %s", err)
			}
		}()
	}
}

// explainListenError says what can be done about an address that can't be had.
func explainListenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken by another program, maybe another Beam: choose another address with --addr", addr)
	}
	return fmt.Errorf("can't listen on %s: %w", addr, errors.Unwrap(err))
}
