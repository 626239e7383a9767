package beam

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

// serve is the command that serves the playground.
type serve struct {
	Addr      string   `default:"127.0.0.1:3008" placeholder:"HOST:PORT" help:"Address to listen on (default ${default}). Port 0 takes a free one. An address that other machines reach needs --token."`
	Token     string   `placeholder:"SECRET" help:"What everybody must present: scripts as 'Authorization: Bearer', browsers at /login. Set it as $$BEAM_TOKEN, where the list of processes doesn't show it."`
	AllowHost []string `placeholder:"NAME" help:"A host name that requests may use to reach Beam, besides localhost. May be repeated."`
	Open      bool     `help:"Open the playground in the browser, signed in."`

	common
}

// How long the end may take: runs that work may go on, then connections may
// finish.
const (
	drainRuns        = 5 * time.Second
	drainConnections = 2 * time.Second
)

// The most that people can have open. Each waiting question costs some
// kilobytes.
var policy = ask.Policy{OpenPerRun: ask.MaxAtOnce, OpenPerOwner: 30_000}

// Validate is called once the flags are read.
func (s *serve) Validate() error {
	if err := s.common.validate(); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("--addr %q is no address: it is to be HOST:PORT, as in 127.0.0.1:3008", s.Addr)
	}
	if s.Token == "" && !loopback(host) {
		return fmt.Errorf("--addr %s can be reached from other machines: that needs --token", s.Addr)
	}
	return nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// Run serves until ctx ends.
func (s *serve) Run(ctx context.Context, p *program) (err error) {
	logger := s.logger(p)
	store, err := s.open()
	if errors.Is(err, errInUse) {
		err = s.inUse(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.close()) }()

	b, err := s.start(ctx, p, store, logger, web.Config{Hosts: s.hosts(), Token: s.Token})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return listenError(s.Addr, err)
	}
	base := origin(listener.Addr())
	s.announce(p, b.site, base)
	b.receive(ctx, store, p.name+commandServe, s.Root, &pages{running: b, address: base})
	return b.serveUntil(ctx, listener)
}

// hosts are the host names that requests may use.
func (s *serve) hosts() []string {
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

// origin is that of the pages that are served at an address.
func origin(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", tcp.Port)
	}
	return "http://" + addr.String()
}

// announce says where the playground is.
func (s *serve) announce(p *program, site *web.Server, base string) {
	fmt.Fprintf(p.stdout, "Beam listens on %s\n", base)
	fmt.Fprintf(p.stdout, "Sign in as its operator, once: %s%s\n", base, site.SignInPath())
	if !site.Scripted() {
		fmt.Fprintln(p.stdout, "The pages are plain: Beam was built without their script (go generate ./static fetches it).")
	}
	if s.Open {
		address := base + site.SignInPath()
		go func() { // some openers end only with the browser
			if err := browser.OpenURL(address); err != nil {
				p.say("no browser could be opened: %s", err)
			}
		}()
	}
}

// listenError says what can be done about an address that can't be had.
func listenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken by another program, maybe another Beam: choose another address with --addr", addr)
	}
	return fmt.Errorf("can't listen on %s: %w", addr, errors.Unwrap(err))
}
