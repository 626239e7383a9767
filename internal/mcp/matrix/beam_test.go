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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web"
)

// patience bounds every wait for something that has to happen.
const patience = 20 * time.Second

var operator = run.Caller{web.Operator}

// A beam is a whole Beam: its engine, its MCP server and its pages, served over
// HTTP.
type beam struct {
	t      testing.TB
	mcp    *mcp.Server
	engine *run.Engine
	site   *web.Server
	origin string
	// outcomes are what the tool's question returned, each time it did.
	outcomes chan string
}

func newBeam(t testing.TB, asking mcp.Asking) *beam {
	t.Helper()
	b := &beam{t: t, outcomes: make(chan string, 10)}
	photons, err := generators.NewRegistry(b.photons()...)
	must(t, err)
	blobs, err := blob.Open(t.TempDir())
	must(t, err)
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	b.engine = run.New(run.Options{Photons: photons, Log: log.NewMemory(), Blobs: blobs, Ephemeral: true, Logger: logger})
	must(t, b.engine.Recover(t.Context()))
	b.mcp, err = mcp.New(mcp.Config{
		Engine: b.engine, Photons: photons, Secret: bytes.Repeat([]byte{1}, 32), Name: "beam", Version: "test", Asking: asking, Logger: logger,
	})
	must(t, err)
	b.site, err = web.New(web.Config{Engine: b.engine, Photons: photons, Keys: web.NewKeys(), MCP: b.mcp, Logger: logger})
	must(t, err)
	server := httptest.NewServer(b.site)
	b.origin = server.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		must(t, b.engine.Close(ctx))
		b.site.Close()
		b.mcp.Close()
		server.CloseClientConnections()
		server.Close()
		must(t, blobs.Close())
	})
	return b
}

// photons ask for a word, in a form or as a secret, and note what they get.
func (b *beam) photons() []*generators.Photon {
	asker := func(name string, prompt *ask.Prompt[string]) *generators.Photon {
		return generators.New(name, func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
			word, err := prompt.Ask(yield)
			b.outcomes <- outcome(word, err)
			return outcome(word, err), nil
		}, nil)
	}
	return []*generators.Photon{
		asker("word", ask.ForText("word", "Which word?")), asker("secret", ask.ForSecret("word", "Which word?")),
	}
}

// outcome is what a question came to, in a word.
func outcome(word string, err error) string {
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

// got is the one outcome that the tool had.
func (b *beam) got() string {
	b.t.Helper()
	var first string
	select {
	case first = <-b.outcomes:
	case <-time.After(patience):
		b.t.Fatal("the tool got no answer")
	}
	b.nothing()
	return first
}

// nothing expects the tool to have no (other) answer.
func (b *beam) nothing() {
	b.t.Helper()
	select {
	case more := <-b.outcomes:
		b.t.Errorf("the tool got %q, too", more)
	default:
	}
}

// A browser is a person at Beam's pages.
type browser struct {
	beam   *beam
	client *http.Client
}

// stranger is a browser that has not signed in.
func (b *beam) stranger() *browser {
	jar, err := cookiejar.New(nil)
	must(b.t, err)
	return &browser{b, &http.Client{Jar: jar, Timeout: patience}}
}

// person is a browser of the operator's.
func (b *beam) person() *browser {
	p := b.stranger()
	r, err := p.client.Get(b.origin + b.site.SignInPath())
	must(b.t, err)
	r.Body.Close()
	return p
}

// inbox is the id of the only open question, as the inbox has it.
func (p *browser) inbox() string {
	p.beam.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		var list struct {
			Asks []struct {
				ID string `json:"id"`
			} `json:"asks"`
		}
		must(p.beam.t, json.Unmarshal([]byte(p.get("/asks", "application/json")), &list))
		if len(list.Asks) == 1 {
			return list.Asks[0].ID
		}
		if time.Now().After(deadline) {
			p.beam.t.Fatalf("the inbox has %d questions, want 1", len(list.Asks))
		}
		time.Sleep(time.Millisecond) // nothing tells a script of a change
	}
}

func (p *browser) get(path, accept string) string {
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

// answer posts the question's form, and tells whether it was taken: else it
// was settled already.
func (p *browser) answer(id, action, word string) bool {
	p.beam.t.Helper()
	form := strings.NewReader(url.Values{"word": {word}}.Encode())
	r, err := http.NewRequest(http.MethodPost, p.beam.origin+"/mcp/request?ask="+id+"&action="+action, form)
	must(p.beam.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	response, err := p.client.Do(r) // which follows to the run's page
	must(p.beam.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(p.beam.t, err)
	if response.StatusCode != http.StatusOK && (response.StatusCode != http.StatusConflict || !strings.Contains(string(body), "This question was ")) {
		p.beam.t.Errorf("answering in the browser: %s %s", response.Status, body)
	}
	return response.StatusCode == http.StatusOK
}

// sees expects the page of the question to say what became of it.
func (p *browser) sees(id, want string) {
	p.beam.t.Helper()
	if page := p.get("/asks/"+id, "text/html"); !strings.Contains(page, want) {
		p.beam.t.Errorf("the page of the question does not say %q:\n%s", want, page)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
