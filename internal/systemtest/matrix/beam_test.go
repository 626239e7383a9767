package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
)

var operator = callers.Operator()

// ownTransport isn't the default one, whose connections a server of another test closes.
var ownTransport = &http.Transport{}

// A testBeam is a whole Beam: its engine, its MCP server and its pages, served over
// HTTP.
type testBeam struct {
	t      testing.TB
	mcp    *mcp.Server
	engine *engine.Engine
	site   *web.Server
	origin string
	// outcomes are what the tool's question returned, each time it did.
	outcomes chan string
}

func newTestBeam(t testing.TB, asking mcp.AskPolicy) *testBeam {
	t.Helper()
	b := &testBeam{t: t, outcomes: make(chan string, 10)}
	photons, err := registry.NewRegistry(b.newPhotons()...)
	must(t, err)
	blobs, err := blob.Open(t.TempDir())
	must(t, err)
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	b.engine = engine.New(engine.Options{Photons: photons, Log: runlog.NewMemory(), Blobs: blobs, Ephemeral: true, Logger: logger})
	must(t, b.engine.Recover(t.Context()))
	b.mcp, err = mcp.New(mcp.Config{
		Engine: b.engine, Photons: photons, StateSecret: bytes.Repeat([]byte{1}, 32), Name: "beam", Version: "test", AskPolicy: asking, Logger: logger,
	})
	must(t, err)
	b.site, err = web.New(web.Config{Engine: b.engine, Photons: photons, Keys: identity.NewKeys(), MCP: b.mcp, Logger: logger})
	must(t, err)
	server := httptest.NewServer(b.site)
	b.origin = server.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var err error
		programtest.Poll(func() bool { err = b.engine.Close(ctx); return err == nil })
		must(t, err)
		b.site.Close()
		b.mcp.Close()
		server.CloseClientConnections()
		server.Close()
		must(t, blobs.Close())
	})
	return b
}

// newPhotons returns photons that ask for a word, in a form or as a secret, and record
// the outcome.
func (b *testBeam) newPhotons() []*generators.Photon {
	asker := func(name string, prompt *ask.Prompt[string]) *generators.Photon {
		return generators.New(name, func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
			word, err := prompt.Ask(yield)
			b.outcomes <- describeOutcome(word, err)
			return describeOutcome(word, err), nil
		}, nil)
	}
	return []*generators.Photon{
		asker("word", ask.ForText("word", "Which word?")), asker("secret", ask.ForSecret("word", "Which word?")),
	}
}

// describeOutcome returns the outcome of a question as text.
func describeOutcome(word string, err error) string {
	switch {
	case err == nil:
		return "accept " + word
	case errors.Is(err, ask.ErrDeclined):
		return "decline"
	case errors.Is(err, ask.ErrCancelled):
		return "cancel"
	}
	return err.Error()
}

// nextOutcome returns the only outcome that the tool had.
func (b *testBeam) nextOutcome() string {
	b.t.Helper()
	var first string
	select {
	case first = <-b.outcomes:
	case <-time.After(programtest.WaitTimeout):
		b.t.Fatal("the tool got no answer")
	}
	b.expectNoOutcome()
	return first
}

// expectNoOutcome expects no further outcome.
func (b *testBeam) expectNoOutcome() {
	b.t.Helper()
	select {
	case more := <-b.outcomes:
		b.t.Errorf("the tool got %q, too", more)
	default:
	}
}

// A browser is a user of Beam's pages.
type browser struct {
	beam   *testBeam
	client *http.Client
}

// newStranger returns a browser that is not signed in.
func (b *testBeam) newStranger() *browser {
	jar, err := cookiejar.New(nil)
	must(b.t, err)
	return &browser{b, &http.Client{Jar: jar, Timeout: programtest.WaitTimeout, Transport: ownTransport}}
}

// newOperatorBrowser returns a browser that is signed in as the operator.
func (b *testBeam) newOperatorBrowser() *browser {
	p := b.newStranger()
	r, err := p.client.Get(b.site.SignInURL(b.origin))
	must(b.t, err)
	r.Body.Close()
	return p
}

// awaitOpenAsk waits until the inbox has one question and returns its id.
func (p *browser) awaitOpenAsk() string {
	p.beam.t.Helper()
	var list struct {
		Asks []struct {
			ID string `json:"id"`
		} `json:"asks"`
	}
	hasOne := func() bool {
		must(p.beam.t, json.Unmarshal([]byte(p.getPage("/asks", "application/json")), &list))
		return len(list.Asks) == 1
	}
	if !programtest.Poll(hasOne) {
		p.beam.t.Fatalf("the inbox has %d questions, want 1", len(list.Asks))
	}
	return list.Asks[0].ID
}

func (p *browser) getPage(path, accept string) string {
	p.beam.t.Helper()
	r, err := http.NewRequest(http.MethodGet, p.beam.origin+path, nil)
	must(p.beam.t, err)
	r.Header.Set("Accept", accept)
	response, err := p.client.Do(r)
	must(p.beam.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(p.beam.t, err)
	return string(body)
}

// postAnswer posts the question's form. It reports whether the answer was recorded;
// otherwise the question was settled already.
func (p *browser) postAnswer(id, action, word string) bool {
	p.beam.t.Helper()
	form := strings.NewReader(url.Values{"word": {word}}.Encode())
	r, err := http.NewRequest(http.MethodPost, p.beam.origin+"/mcp/request?ask="+id+"&action="+action, form)
	must(p.beam.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	response, err := p.client.Do(r) // follows the redirect to the run's page
	must(p.beam.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(p.beam.t, err)
	if response.StatusCode != http.StatusOK && (response.StatusCode != http.StatusConflict || !strings.Contains(string(body), "This question was ")) {
		p.beam.t.Errorf("answering in the browser: %s %s", response.Status, body)
	}
	return response.StatusCode == http.StatusOK
}

// expectPage expects the question's page to contain want.
func (p *browser) expectPage(id, want string) {
	p.beam.t.Helper()
	if page := p.getPage("/asks/"+id, "text/html"); !strings.Contains(page, want) {
		p.beam.t.Errorf("the page of the question does not say %q:\n%s", want, page)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
