package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/oauth/oauthtest"
	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A browser sends each request to the replica that it is told.
type browser struct {
	t      *testing.T
	client *http.Client
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return browser{t, &http.Client{Jar: jar, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// send sends a request, a form unless it is nil, and returns the response, whose body the caller closes.
func (b browser) send(at *cluster.Replica, to string, form url.Values, header ...string) *http.Response {
	b.t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, "http://"+at.Address()+to, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	return response
}

// do sends a request, decodes the response if result isn't nil, and returns the status.
func (b browser) do(at *cluster.Replica, path string, form url.Values, result any) int {
	b.t.Helper()
	response := b.send(at, path, form)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err == nil && result != nil {
		err = json.Unmarshal(raw, result)
	}
	if err != nil {
		b.t.Fatalf("%s: %s %s: %v", path, response.Status, raw, err)
	}
	return response.StatusCode
}

// expect sends a request whose status should be one.
func (b browser) expect(status int, at *cluster.Replica, path string, form url.Values) {
	b.t.Helper()
	if got := b.do(at, path, form, nil); got != status {
		b.t.Fatalf("%s has status %d, want %d", path, got, status)
	}
}

// stream opens the stream of a page, and returns a channel that is closed when it ends.
func (b browser) stream(at *cluster.Replica) <-chan struct{} {
	b.t.Helper()
	client := *b.client
	client.Timeout = 0
	response := browser{b.t, &client}.send(at, "/updates?page=runs", nil, "Datastar-Request", "true")
	if response.StatusCode != http.StatusOK {
		b.t.Fatalf("the stream has status %s", response.Status)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
	}()
	return ended
}

// start starts a photon, and returns the run once it asks.
func (b browser) start(at *cluster.Replica, photon string, form url.Values) (run, ask string) {
	b.t.Helper()
	response := b.send(at, "/photons/"+photon+"/runs", form)
	response.Body.Close()
	page, err := response.Location()
	if err != nil {
		b.t.Fatal(response.Status, err)
	}
	run = path.Base(page.Path)
	b.eventually("the run asks", func() bool {
		var i info
		b.do(at, "/runs/"+run, nil, &i)
		if len(i.Asks) > 0 {
			ask = i.Asks[0].ID
		}
		return ask != ""
	})
	return run, ask
}

func (b browser) state(at *cluster.Replica, run string) string {
	b.t.Helper()
	var i info
	b.do(at, "/runs/"+run, nil, &i)
	return i.State
}

func (b browser) eventually(what string, is func() bool) {
	b.t.Helper()
	if !programtest.Poll(is) {
		b.t.Fatalf("not so: %s", what)
	}
}

// endsSoon fails unless a channel is closed soon.
func endsSoon(t *testing.T, what string, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(3 * time.Second):
		t.Errorf("%s has not ended", what)
	}
}

// An identityProvider signs in whoever comes.
type identityProvider struct {
	*httptest.Server
	nonce string // of the sign-in that has begun
}

func newIdentityProvider(t *testing.T) *identityProvider {
	p := new(identityProvider)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var reply any
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			reply = map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}}
		case "/keys":
			reply = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: oauthtest.Key().Public(), KeyID: oauthtest.KeyID, Algorithm: "RS256", Use: "sig"}}}
		case "/token":
			claims := oauthtest.Claims(p.URL, "beam", map[string]any{"nonce": p.nonce, "groups": []string{"operator"}})
			reply = map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": oauthtest.Good().Sign(t, claims)}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply)
	}))
	t.Cleanup(p.Close)
	return p
}

// signIn signs a browser in, with its first and its last request to different replicas.
func (p *identityProvider) signIn(b browser, from, to *cluster.Replica) {
	b.t.Helper()
	response := b.send(from, "/login/openid", nil)
	response.Body.Close()
	at, err := response.Location()
	if err != nil {
		b.t.Fatal(response.Status, err)
	}
	p.nonce = at.Query().Get("nonce")
	b.expect(http.StatusSeeOther, to, "/login/callback?"+url.Values{"code": {"c"}, "state": {at.Query().Get("state")}}.Encode(), nil)
}

// received counts what a webhook is told.
type received struct {
	mu    sync.Mutex
	times map[string]int // by question
}

func (x *received) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.times[strings.TrimPrefix(r.Header.Get("webhook-id"), "ask_")]++
}

func (x *received) of(ask string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.times[ask]
}

// newUpstream serves an upstream's tool over MCP, and returns what changes it.
func newUpstream(t *testing.T) (at string, change func(description string)) {
	s := server.NewMCPServer("notes", "1", server.WithToolCapabilities(true))
	change = func(description string) {
		s.SetTools(server.ServerTool{Tool: mcp.NewTool("read", mcp.WithDescription(description)), Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("nothing"), nil
		}})
	}
	change("Reads a note")
	h := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h.URL + "/mcp", change
}

// What a person does in a browser works, whichever replica gets each request.
func TestBrowserAtSeveralReplicas(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	release := make(chan struct{})
	stopped := make(chan struct{}, 100)
	model := llmtest.New(t, func(x *llmtest.Call) {
		if strings.Contains(string(x.Body), "slowly") {
			x.Say("Once")
			select {
			case <-x.Request.Context().Done():
				stopped <- struct{}{}
				return
			case <-release:
			}
		}
		x.Reply("a summary")
	})
	provider, told := newIdentityProvider(t), &received{times: make(map[string]int)}
	webhook := httptest.NewServer(told)
	t.Cleanup(webhook.Close)
	upstream, change := newUpstream(t)
	t.Setenv("BEAM_NOTIFY_SECRET", "a secret of the tests, long enough")
	c := startCluster(t, cluster.Options{Program: beam, Replicas: 2, Args: []string{
		"--oidc-issuer", provider.URL, "--oidc-client-id", "beam", "--oidc-roles-claim", "groups", "--notify-webhook", webhook.URL,
		"--models", write("models.json", fmt.Sprintf(`{"models":[{"name":"m","endpoint":%q}]}`, model.URL+"/v1")),
		"--mcp-config", write("mcp.json", fmt.Sprintf(`{"mcpServers":{"notes":{"url":%q}}}`, upstream)),
	}})
	a, b := c.Replicas[0], c.Replicas[1]
	ada := newBrowser(t)
	provider.signIn(ada, a, b)
	in := func(f func(t *testing.T, ada browser)) func(*testing.T) {
		return func(t *testing.T) { f(t, browser{t, ada.client}) }
	}

	t.Run("a sign-in address works once", func(t *testing.T) {
		address := openAddress(t, a)
		var wins []int
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, at := range []*cluster.Replica{a, b, a, b} {
			all.Go(func() {
				status := newBrowser(t).do(at, address, nil, nil)
				mu.Lock()
				defer mu.Unlock()
				wins = append(wins, status)
			})
		}
		all.Wait()
		if slices.Sort(wins); !slices.Equal(wins, []int{303, 403, 403, 403}) {
			t.Errorf("the statuses are %v", wins)
		}
		operator := newBrowser(t)
		operator.expect(http.StatusSeeOther, b, openAddress(t, a), nil)
		operator.expect(http.StatusOK, a, "/runs", nil)
		operator.expect(http.StatusNoContent, b, "/logout", url.Values{})
		operator.expect(http.StatusUnauthorized, a, "/runs", nil)
	})
	t.Run("a browser signs out", func(t *testing.T) {
		other := newBrowser(t)
		provider.signIn(other, b, a)
		ended := other.stream(b)
		other.expect(http.StatusNoContent, a, "/logout", url.Values{})
		endsSoon(t, "a page at another replica", ended)
	})
	t.Run("a person signs out everywhere", func(t *testing.T) {
		one, other := newBrowser(t), newBrowser(t)
		provider.signIn(one, a, b)
		provider.signIn(other, b, a)
		ended := other.stream(b)
		one.expect(http.StatusNoContent, a, "/logout", url.Values{"everywhere": {"1"}})
		other.expect(http.StatusUnauthorized, b, "/runs", nil)
		endsSoon(t, "a page at another replica", ended)
		provider.signIn(ada, b, a) // who is the same person
		ada.expect(http.StatusOK, b, "/runs", nil)
	})
	t.Run("questions and webhooks", in(func(t *testing.T, ada browser) {
		for range 5 {
			run, ask := ada.start(a, "wizard", url.Values{})
			ada.expect(http.StatusAccepted, b, "/mcp/request?ask="+ask+"&action=decline", url.Values{})
			ada.eventually("the run has ended", func() bool { return ada.state(b, run) != "waiting" && ada.state(a, run) != "waiting" })
			ada.eventually("the webhook is told", func() bool { return told.of(ask) > 0 })
		}
		told.mu.Lock()
		defer told.mu.Unlock()
		for ask, n := range told.times {
			if n != 1 {
				t.Errorf("the webhook was told %d times of %s", n, ask)
			}
		}
	}))
	t.Run("a standing approval", in(func(t *testing.T, ada browser) {
		_, first := ada.start(a, "summarize", url.Values{"text": {"x"}})
		ada.expect(http.StatusAccepted, b, "/asks/"+first+"/sampling?action=approve", url.Values{"model": {"m"}, "scope": {"tool"}, "requests": {"10"}})
		ada.eventually("one request was sent", func() bool { return len(model.Requests()) == 1 })
		var all sync.WaitGroup
		for i := range 14 {
			all.Go(func() { ada.do(c.Replicas[i%2], "/photons/summarize/runs", url.Values{"text": {"x"}}, nil) })
		}
		all.Wait()
		waiting := func() (n int) {
			var list struct{ Asks []struct{ Photon string } }
			ada.do(b, "/asks", nil, &list)
			return len(list.Asks)
		}
		ada.eventually("four of the others wait", func() bool { return waiting() == 4 })
		if n := len(model.Requests()); n != 11 {
			t.Errorf("%d requests were sent", n)
		}
		var models struct {
			Standing []any
			Usage    []struct{ Calls int }
		}
		ada.eventually("eleven are counted", func() bool {
			ada.do(a, "/models", nil, &models)
			return len(models.Usage) == 1 && models.Usage[0].Calls == 11
		})
		if len(models.Standing) != 0 {
			t.Errorf("%v is left", models.Standing)
		}
	}))
	t.Run("a standing approval is revoked", in(func(t *testing.T, ada browser) {
		_, ask := ada.start(b, "summarize", url.Values{"text": {"x"}})
		ada.expect(http.StatusAccepted, b, "/asks/"+ask+"/sampling?action=approve", url.Values{"model": {"m"}, "scope": {"tool"}, "requests": {"10"}})
		var models struct{ Standing []struct{ ID int } }
		ada.do(a, "/models", nil, &models)
		if len(models.Standing) != 1 {
			t.Fatalf("%v is left", models.Standing)
		}
		ada.expect(http.StatusAccepted, a, fmt.Sprintf("/models/standing/%d/revoke", models.Standing[0].ID), url.Values{})
		ada.expect(http.StatusNotFound, b, fmt.Sprintf("/models/standing/%d/revoke", models.Standing[0].ID), url.Values{})
		sent := len(model.Requests())
		ada.start(b, "summarize", url.Values{"text": {"x"}})
		if n := len(model.Requests()); n != sent {
			t.Errorf("%d requests were sent", n-sent)
		}
	}))
	t.Run("a call is stopped", in(func(t *testing.T, ada browser) {
		_, ask := ada.start(a, "summarize", url.Values{"text": {"slowly"}})
		sent := len(model.Requests())
		ada.expect(http.StatusAccepted, b, "/asks/"+ask+"/sampling?action=approve", url.Values{"model": {"m"}})
		ada.eventually("the model is called", func() bool { return len(model.Requests()) > sent })
		ada.expect(http.StatusAccepted, a, "/asks/"+ask+"/sampling?action=stop", url.Values{})
		select {
		case <-stopped:
		case <-time.After(5 * time.Second):
			t.Error("the model is still called")
		}
		ada.expect(http.StatusAccepted, a, "/mcp/request?ask="+ask+"&action=decline", url.Values{})
	}))
	t.Run("a tool is accepted", in(func(t *testing.T, ada browser) {
		type status struct {
			Tools []struct {
				Decision string
				Change   *struct{ Digest string }
			}
		}
		of := func(at *cluster.Replica) (s status) { ada.do(at, "/upstreams/notes", nil, &s); return s }
		change("Reads a note, and sends it away")
		for _, at := range c.Replicas {
			ada.do(at, "/upstreams/notes/reconnect", url.Values{}, nil)
			ada.eventually("the tool is held back", func() bool { s := of(at); return len(s.Tools) == 1 && s.Tools[0].Decision == "held" })
		}
		ada.expect(http.StatusNoContent, a, "/upstreams/notes/accept", url.Values{"tool": {"read"}, "digest": {of(a).Tools[0].Change.Digest}})
		accepted := time.Now()
		ada.eventually("the tool is offered", func() bool { return of(b).Tools[0].Decision == "offered" })
		if after := time.Since(accepted); after > 2*time.Second {
			t.Errorf("it is offered after %v", after)
		}
	}))
	t.Run("a replica that makes a call is killed", in(func(t *testing.T, ada browser) {
		run, ask := ada.start(a, "summarize", url.Values{"text": {"very slowly"}})
		sent := len(model.Requests())
		ada.expect(http.StatusAccepted, b, "/asks/"+ask+"/sampling?action=approve", url.Values{"model": {"m"}})
		ada.eventually("the model is called", func() bool { return len(model.Requests()) > sent })
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		close(release)
		ada.eventually("the call is made again", func() bool { return ada.state(a, run) == "completed" })
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}))
	t.Run("readiness", in(func(t *testing.T, ada browser) {
		for _, l := range c.Links[0] {
			l.Delay(time.Hour) // the cable is pulled
		}
		cut := time.Now()
		ada.eventually("it isn't ready", func() bool { return ada.do(a, "/readyz", nil, nil) == http.StatusServiceUnavailable })
		if after := time.Since(cut); after > 4*time.Second {
			t.Errorf("it isn't ready after %v", after)
		}
		ada.expect(http.StatusOK, b, "/readyz", nil)
		for _, l := range c.Links[0] {
			l.Delay(0)
		}
		ada.eventually("it is ready", func() bool { return ada.do(a, "/readyz", nil, nil) == http.StatusOK })
	}))
}

// openAddress returns the path of the address that the command open prints at a replica.
func openAddress(t *testing.T, at *cluster.Replica) string {
	t.Helper()
	data := at.Args[slices.Index(at.Args, "--data")+1]
	out, err := exec.CommandContext(t.Context(), at.Program, "open", "--print", "--data", data).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address, err := url.Parse(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return address.RequestURI()
}

// Replicas that start on an empty database at the same moment have the same sessions.
func TestReplicasStartTogether(t *testing.T) {
	pg := cluster.NewPostgres(t, cluster.PostgresOptions{})
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	program := build(t, beam)
	replicas := make([]*cluster.Replica, 3)
	errs := make([]error, len(replicas))
	var all sync.WaitGroup
	for i := range replicas {
		r, err := cluster.NewReplica(program, "serve", "--store", pg.DSN(), "--secrets-key-file", key, "--data", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		replicas[i] = r
		t.Cleanup(func() { _ = r.Kill() })
		all.Go(func() { errs[i] = r.Start(t.Context()) })
	}
	all.Wait()
	b := newBrowser(t)
	for i, r := range replicas {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		response := b.send(r, "/runs", nil)
		response.Body.Close()
		if n := len(response.Cookies()); response.StatusCode != http.StatusOK || (n > 0) != (i == 0) {
			t.Errorf("replica %d: %s with %d cookies", i, response.Status, n)
		}
	}
}
