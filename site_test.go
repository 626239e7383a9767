package beam_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
)

// everything makes artifacts and asks questions of several kinds at once.
var everything = generators.New("everything", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	yield(generators.Markdown("A document", "With *emphasis*."))
	yield(generators.Image("A picture", "image/png", []byte("\x89PNG no picture")))
	yield(generators.File("notes.txt", "text/plain", []byte("notes")))
	var name, secret, choice string
	var ok bool
	var file []ask.Handle
	err := ask.All(yield,
		ask.ForText("name", "What is the name?").Into(&name),
		ask.ForSecret("secret", "What is the secret?").Into(&secret),
		ask.ForSelect("choice", "Which one?", ask.Choices("a", "b")).Into(&choice),
		ask.ForConfirm("confirm", "Go on?", ask.Destructive()).Into(&ok),
		ask.ForFiles("file", "Which file?").Into(&file))
	return "", err
}, nil)

// addressPattern matches what may be an address in a page, a stream, a script or a style
// sheet: what follows a quotation mark, an opening parenthesis or an equals sign and
// begins with a slash or a scheme.
var addressPattern = regexp.MustCompile(`["'(=\x60](/[A-Za-z0-9_?][^"')\s\x60<>]*|/["']|https?://[^"')\s\x60<>]*)`)

// addresses returns the addresses in a text.
func addresses(text string) (found []string) {
	for _, m := range addressPattern.FindAllStringSubmatch(html.UnescapeString(text), -1) {
		found = append(found, strings.TrimRight(m[1], `"'`))
	}
	return found
}

// linkPattern matches the links of a page.
var linkPattern = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// linksOfDocument returns the links of a page of the documentation, whose text has
// examples of addresses, to this site.
func linksOfDocument(text string) (found []string) {
	for _, m := range linkPattern.FindAllStringSubmatch(text, -1) {
		if address := html.UnescapeString(m[1]); strings.HasPrefix(address, "/") {
			found = append(found, address)
		}
	}
	return found
}

// A crawler follows every address of a site.
type crawler struct {
	*browser
	path    string // of the site
	host    string
	origin  string // of links that leave the pages
	seen    map[string]bool
	outside map[string]bool // addresses of other sites that pages may name
}

// visit requests an address and follows what it names.
func (c *crawler) visit(address string, headers ...string) {
	c.t.Helper()
	address, _, _ = strings.Cut(address, "#")
	key := address + fmt.Sprint(headers)
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	res, body := c.do("GET", address, "", append(headers, "Host", c.host)...)
	if res.StatusCode >= 400 {
		c.t.Errorf("%s: %s", address, res.Status)
	}
	for _, cookie := range res.Cookies() {
		if !strings.HasPrefix(cookie.Path, c.path+"/") {
			c.t.Errorf("%s sets a cookie for %s", address, cookie.Path)
		}
	}
	if to := res.Header.Get("Location"); to != "" {
		c.follow(address, to, headers)
	}
	switch kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); kind {
	case "text/html", "text/event-stream", "application/json":
		read := addresses
		if strings.HasPrefix(address, c.path+"/docs") {
			read = linksOfDocument
		}
		for _, found := range read(body) {
			c.follow(address, found, headers)
		}
	case "text/css", "text/javascript", "image/svg+xml":
		if !strings.HasPrefix(address, c.path+"/static/vendor/") {
			c.checkAsset(address, body)
		}
	}
}

// checkAsset expects a style sheet or a script to refer to files beside it only.
func (c *crawler) checkAsset(address, body string) {
	for _, reference := range regexp.MustCompile(`(?:url\(|from\s*|import\s*\(?)["']?(/[^"')]*)`).FindAllStringSubmatch(body, -1) {
		c.t.Errorf("%s refers to %s", address, reference[1])
	}
}

// follow checks an address that is named at another, and visits it.
func (c *crawler) follow(at, address string, headers []string) {
	c.t.Helper()
	switch {
	case c.outside[address], strings.HasPrefix(address, "http://www.w3.org/"):
	case strings.HasPrefix(address, c.origin+c.path+"/"):
		c.follow(at, strings.TrimPrefix(address, c.origin), headers)
	case !strings.HasPrefix(address, c.path+"/"):
		c.t.Errorf("%s names %s", at, address)
	case isPosted(address), strings.Contains(address, "/events"), strings.Contains(address, "/updates"):
		// forms; streams that don't end are followed elsewhere
	default:
		c.visit(address, headers...)
	}
}

// isPosted reports whether an address is that of a form.
func isPosted(address string) bool {
	u, err := url.Parse(address)
	return err != nil || strings.HasSuffix(u.Path, "/runs") && strings.Contains(u.Path, "/photons/") ||
		strings.HasSuffix(u.Path, "/cancel") || strings.HasSuffix(u.Path, "/replay") || strings.HasSuffix(u.Path, "/fork") || strings.HasSuffix(u.Path, "/mcp/request") || strings.HasSuffix(u.Path, "/logout")
}

// No page, stream or asset names an address that isn't below the path of the site.
func TestEveryAddressIsBelowThePathOfTheSite(t *testing.T) {
	photons := append(shipped.Photons(), greet, everything, paint)
	const host, path = "tools.example", "/a/tools"
	for name, token := range map[string]string{"open": "", "with a token": testToken} {
		t.Run(name, func(t *testing.T) {
			site, origin := path, "http://"+host
			if token != "" {
				origin = "https://" + host
				site = origin + path // cookies need TLS, so the requests have the token
			}
			b := newBeam(t, beam.Config{Photons: photons, URL: site, Token: token, Hosts: []string{host}})
			p := newBrowser(t, serve(t, b))
			c := &crawler{browser: p, path: path, host: host, origin: origin, seen: map[string]bool{}, outside: map[string]bool{"https://example.com/": true}}
			signed := []string{"Host", host}
			if token != "" {
				signed = append(signed, "Authorization", "Bearer "+token)
			}
			var runs []started
			for _, photon := range []string{"everything", "greet", "paint", "kitchen_sink"} {
				run := startSigned(c, photon, signed)
				runs = append(runs, run)
				awaitMessage(c, run, signed)
			}
			for _, accept := range []string{"text/html", "application/json"} {
				headers := append([]string{"Accept", accept}, signed...)
				c.visit(path+"/", headers...)
				for _, run := range runs {
					c.visit(run.URL, headers...)
				}
			}
			c.visit(path+"/login?next="+url.QueryEscape(path+"/asks"), "Accept", "text/html")
			for _, missing := range []string{"/nowhere", "/runs/none", "/photons/none"} {
				_, body := c.do("GET", path+missing, "", append([]string{"Accept", "text/html"}, signed...)...)
				for _, found := range addresses(body) {
					c.follow(path+missing, found, append([]string{"Accept", "text/html"}, signed...))
				}
			}
			for _, address := range []string{path + "/healthz", path + "/readyz"} {
				c.visit(address, signed...)
			}
			if len(c.seen) < 40 {
				t.Errorf("only %d addresses were found", len(c.seen))
			}
		})
	}
}

func startSigned(c *crawler, photon string, signed []string) (run started) {
	c.t.Helper()
	headers := append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}, signed...)
	res, body := c.do("POST", c.path+"/photons/"+photon+"/runs", "", headers...)
	if res.StatusCode != http.StatusSeeOther {
		c.t.Fatalf("starting %s: %s %s", photon, res.Status, body)
	}
	run.URL = res.Header.Get("Location")
	if !strings.HasPrefix(run.URL, c.path+"/runs/") {
		c.t.Fatalf("the run is at %s", run.URL)
	}
	run.ID = run.URL[strings.LastIndex(run.URL, "/")+1:]
	run.Events = run.URL + "/events"
	return run
}

// awaitMessage follows a run, as programs and pages do, until it asks or ends, and checks
// the addresses that the streams name.
func awaitMessage(c *crawler, run started, signed []string) {
	c.t.Helper()
	for _, headers := range [][]string{nil, {"Datastar-Request", "true"}} {
		ctx, cancel := context.WithCancel(c.t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", c.url+run.Events, nil)
		if err != nil {
			c.t.Fatal(err)
		}
		for i, all := 0, append(headers, signed...); i < len(all); i += 2 {
			if r.Header.Set(all[i], all[i+1]); all[i] == "Host" {
				r.Host = all[i+1]
			}
		}
		res, err := c.Do(r)
		if err != nil {
			c.t.Fatal(err)
		}
		var stream strings.Builder
		buf := make([]byte, 64<<10)
		for !strings.Contains(stream.String(), `"result"`) && !strings.Contains(stream.String(), "elicitation/create") && !strings.Contains(stream.String(), "datastar-patch-elements") {
			n, err := res.Body.Read(buf)
			stream.Write(buf[:n])
			if err != nil {
				break
			}
		}
		cancel()
		res.Body.Close()
		for _, found := range addresses(strings.ReplaceAll(stream.String(), `\"`, `"`)) {
			c.follow(run.Events, found, signed)
		}
	}
}
