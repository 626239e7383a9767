// Package servecmd has the commands that serve: the playground, and one MCP client over
// stdin and stdout.
package servecmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"github.com/cli/browser"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/datastar"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/term"
)

// Serve serves the playground.
type Serve struct {
	HelpAll command.HelpAll `env:"-" help:"Show this manual with all flags."`

	Addr      string   `common:"" default:"127.0.0.1:3008" placeholder:"HOST:PORT" help:"Address to listen on (default ${default}). Port 0 chooses a free one. An address that other machines can reach requires --token, or people: --users, --oidc-issuer or --trust-user-header."`
	URL       string   `common:"" name:"url" placeholder:"URL" help:"URL at which browsers and clients reach Beam, if a proxy serves it elsewhere, such as https://tools.example/beam; or its path alone. Requires --token or people, unless the host is this machine."`
	Token     string   `common:"" env:"BEAM_SERVE_TOKEN" placeholder:"SECRET" help:"Token that everyone must present: scripts as 'Authorization: Bearer', browsers on the sign-in page. Set it as $$BEAM_SERVE_TOKEN to keep it out of the list of processes; $$BEAM_TOKEN is that of clients."`
	AllowHost []string `placeholder:"NAME" help:"Host name that requests may use to reach Beam, besides localhost. Can be repeated."`
	Open      bool     `common:"" help:"Open the playground in the browser, signed in."`

	oauthFlags
	frontFlags

	command.AppFlags
	peopleFlags

	site links.Site // from URL
}

// Help returns what --help says besides the flags.
func (*Serve) Help() string {
	return `The playground has a page for each photon and run, the inbox of open questions, the HTTP interface for scripts, and the MCP endpoint.

    ${program}                          the playground on http://127.0.0.1:3008
    ${program} --open                   the same, opened in the browser, signed in
    ${program} --root ~/projects        let tools read a folder
    ${program} --photons NAME           serve only this photon
    ${program} --addr :8080 --token S   reachable from other machines, with a token
    ${program} --memory --addr 127.0.0.1:0   store nothing; listen on a free port

On SIGINT or SIGTERM, Beam gives running tools a few seconds (--drain) to end; a second signal ends it at once.`
}

// Validate checks the flags; kong calls it.
func (s *Serve) Validate() error {
	if err := errors.Join(s.AppFlags.CheckFlags(), s.frontFlags.validate(), checkToken(s.Token)); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("--addr %q is not an address: it must be HOST:PORT, as in 127.0.0.1:3008", s.Addr)
	}
	if s.site, err = links.ParseSite(s.URL); err != nil {
		return fmt.Errorf("--url is not a URL of Beam: %w", err) // without the URL, which may hold a password
	}
	if err := s.peopleFlags.validate(s.site); err != nil {
		return err
	}
	anonymous := s.Token == "" && !s.known()
	if anonymous && !links.IsLoopback(host) {
		return fmt.Errorf("--addr %s %s", s.Addr, requiresPeople())
	}
	if host := s.site.Host(); anonymous && host != "" && !links.IsLoopback(host) {
		return fmt.Errorf("--url %s %s", s.URL, requiresPeople())
	}
	for _, h := range s.AllowHost {
		if _, err := links.ParseHost(h); err != nil {
			return fmt.Errorf("--allow-host %q is not a host: %w", h, err)
		}
	}
	return s.oauthFlags.validate(s.site)
}

// The variables of tokens: a client's environment must not decide whom a server lets in.
const (
	serveToken  = "BEAM_SERVE_TOKEN"
	clientToken = "BEAM_TOKEN"

	clientTokenNote = clientToken + " is the token of clients, and this server doesn't take it: to require a token from everyone, set " + serveToken
)

// requiresPeople says what an address requires that others can reach.
func requiresPeople() string {
	text := "can be reached from other machines: that requires --token, --users, --oidc-issuer or --trust-user-header"
	if os.Getenv(clientToken) != "" {
		text += "; " + clientTokenNote
	}
	return text
}

// Run serves until ctx ends.
func (s *Serve) Run(ctx context.Context, p *command.Program) (err error) {
	if err := s.Photons.CheckFlags(p, s.MayHaveUpstreams()); err != nil {
		return err
	}
	if s.Token == "" && os.Getenv(clientToken) != "" {
		p.Messagef("%s", clientTokenNote)
	}
	folder, err := s.OpenFolder()
	if errors.Is(err, datafolder.ErrInUse) {
		err = s.FolderInUseError(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()

	config := s.Config(p, folder, s.NewLogger(p))
	config.Site, config.AllowedHosts, config.AllowedOrigins, config.Token = s.site, s.allowedHosts(), s.allowedOrigins(), s.Token
	config.People, config.Audit = s.people, s.Audit
	if config.OAuth, err = s.verification(); err != nil {
		return err
	}
	if config.Webhook, err = s.webhook(); err != nil {
		return err
	}
	options, err := s.serveOptions(config)
	if err != nil {
		return err
	}
	a, err := command.NewApp(ctx, config)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return explainListenError(s.Addr, err)
	}
	listening := app.BaseURL(s.scheme(), listener) + string(s.site.Path)
	base := listening
	if b, ok := s.site.Base(); ok {
		base = string(b)
	}
	a.SetBaseURL(base)
	s.printAddresses(p, a, listening, base)
	a.AddPages(listening)
	a.ServeControlSocket(ctx, p.Name+command.ServeSuffix, s.Root, app.NewServedPages(a, base))
	return a.Serve(ctx, listener, options)
}

// allowedHosts returns the host names that requests may use.
func (s *Serve) allowedHosts() []string {
	var hosts []string
	for _, h := range s.AllowHost {
		name, _ := links.ParseHost(h) // Validate has checked it
		hosts = append(hosts, name)
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
func (s *Serve) printAddresses(p *command.Program, a *app.App, listening, base string) {
	fmt.Fprintf(p.Stdout, "Beam listens on %s\n", listening)
	fmt.Fprintln(p.Stdout, s.howToSignIn(p, a, base))
	if !a.HasScript() {
		fmt.Fprintln(p.Stdout, "The pages are plain: the program was built without their script, Datastar.", datastar.HowToAdd())
	}
	if s.Open {
		go openSignedIn(a, a.SignInURL(base), func(err error) { p.Messagef("no browser could be opened: %s", err) })
	}
}

// howToSignIn returns the line that says how the operator signs in. Other users and programs
// may read what isn't printed to a terminal, so that it has no address unless the flags say so.
func (s *Serve) howToSignIn(p *command.Program, a *app.App, base string) string {
	switch {
	case s.PrintSignIn || term.IsTerminal(p.Stdout):
		return "Sign in as its operator, once: " + a.SignInURL(base)
	case s.Memory:
		return "To sign in as its operator, start it in a terminal, or with --print-sign-in."
	case s.Data != "":
		return "To sign in as its operator, run: " + p.Command + " open --data " + command.QuoteWord(s.Data)
	}
	return "To sign in as its operator, run: " + p.Command + " open"
}

// openSignedIn opens a browser at a sign-in address. It returns when the command that opens it
// does, which may run as long as the browser; the address is not among its arguments.
func openSignedIn(a *app.App, address string, failed func(error)) {
	file, err := a.WriteSignInRedirect(address)
	if err == nil {
		err = browser.OpenURL(file)
	}
	if err != nil {
		failed(err)
	}
}

// minToken is the length of the shortest token, in bytes.
const minToken = 16

// checkToken returns an error if a token could be guessed.
func checkToken(token string) error {
	if token != "" && len(token) < minToken {
		return fmt.Errorf("--token (or the variable BEAM_SERVE_TOKEN) must have at least %d characters: openssl rand -hex 16 makes one", minToken)
	}
	return nil
}

// explainListenError says what the user can do if Beam can't listen on an
// address.
func explainListenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use by another program, maybe another Beam: choose another address with --addr", addr)
	}
	return fmt.Errorf("can't listen on %s: %w", addr, errors.Unwrap(err))
}
