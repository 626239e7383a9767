package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

// peers are two servers of the same sessions.
type peers struct {
	t       *testing.T
	a, b    *mcp.Server
	engine  *engine.Engine
	session string
}

func newPeers(t *testing.T, photon *generators.Photon) *peers {
	state := smallstate.NewMemory()
	a := newTestServerWith(t, mcp.Config{Sessions: state}, runlog.NewMemory(), photon)
	b, err := mcp.New(mcp.Config{Engine: a.engine, Photons: a.photons, StateSecret: bytes.Repeat([]byte{1}, 32), Sessions: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	p := &peers{t: t, a: a.Server, b: b, engine: a.engine}
	p.session = p.do(t.Context(), a.Server, "POST", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"v","version":"1"}}}`).
		Header().Get("Mcp-Session-Id")
	return p
}

func (p *peers) do(ctx context.Context, s *mcp.Server, method, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "/mcp", strings.NewReader(body))
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Session-Id", p.session)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r, operator, pagesOrigin)
	return w
}

func (p *peers) ping(s *mcp.Server) (status int) {
	return p.do(p.t.Context(), s, "POST", `{"jsonrpc":"2.0","id":9,"method":"ping"}`).Code
}

// call calls the photon at a, and leaves after a while.
func (p *peers) call(name string, stay time.Duration) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(p.t.Context(), stay)
	defer cancel()
	return p.do(ctx, p.a, "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, name))
}

// A client is at one server for hours; the other one doesn't take it for gone, until it is. The session
// then ends at both, and with it the run that nobody else would go on with.
func TestClientIsAtAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeers(t, generators.New("waits", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
			return ask.Text(yield, "what", "What?")
		}, nil))
		p.call("waits", time.Minute)
		expect := func(want engine.State) {
			t.Helper()
			synctest.Wait()
			if runs, err := p.engine.Runs(operator, 10, func(engine.Info) bool { return true }); err != nil || len(runs) != 1 || runs[0].State != want {
				t.Errorf("the runs are %+v, %v; want %s", runs, err, want)
			}
		}
		for range 10 {
			time.Sleep(50 * time.Minute)
			if status := p.ping(p.b); status != http.StatusOK {
				t.Fatalf("a ping has status %d", status)
			}
			expect(engine.Waiting)
		}
		time.Sleep(3 * time.Hour)
		expect(engine.Stopped)
		if a, b := p.ping(p.a), p.ping(p.b); a != http.StatusNotFound || b != http.StatusNotFound {
			t.Errorf("after the end, pings have status %d and %d", a, b)
		}
	})
}

// A run whose client has gone on at another server knows that the client is there.
func TestClientIsPresentAtAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeers(t, generators.New("present", func(ctx context.Context, _ struct{}, _ generators.Yield) (string, error) {
			began := time.Now()
			clientsession.Of(ctx).Presence.AwaitAbsence(ctx)
			return fmt.Sprint("minutes: ", int(time.Since(began).Minutes())), nil
		}, nil))
		first := p.call("present", time.Minute)
		id := regexp.MustCompile(`(?m)^id: (.*)$`).FindStringSubmatch(first.Body.String())
		if id == nil {
			t.Fatalf("the stream is %s", first.Body)
		}
		resume := func(stay time.Duration) string {
			ctx, cancel := context.WithTimeout(t.Context(), stay)
			defer cancel()
			return p.do(ctx, p.b, "GET", "", "Last-Event-ID", id[1]).Body.String()
		}
		resume(2 * time.Minute)
		time.Sleep(time.Minute)
		if got := resume(time.Minute); !strings.Contains(got, "minutes: 3") {
			t.Errorf("the stream is %s", got)
		}
	})
}
