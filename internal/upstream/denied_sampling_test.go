package upstream_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/testserver"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// recordingServer returns a test server that speaks a version of MCP, and a function that
// returns the requests that it has got so far.
func recordingServer(t *testing.T, name, version string) (config.Server, func() []string) {
	t.Helper()
	s, err := testserver.New(testserver.Options{Protocol: version})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		requests = append(requests, string(body))
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return config.Server{Target: client.Target{Name: name, Type: config.HTTP, URL: server.URL}}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), requests...)
	}
}

// countWith counts the requests that contain all texts.
func countWith(requests []string, texts ...string) (n int) {
next:
	for _, r := range requests {
		for _, text := range texts {
			if !strings.Contains(r, text) {
				continue next
			}
		}
		n++
	}
	return n
}

// A person who denies a request to a model ends it: an older server gets the error -1, and
// the call of a newer one, which could only ask again, ends as a tool error without a retry.
func TestDeniedSampling(t *testing.T) {
	older, olderRequests := recordingServer(t, "old", "2025-11-25")
	modern, modernRequests := recordingServer(t, "new", "2026-07-28")
	g := newGateway(t, older, modern)
	for _, action := range []askdata.Action{askdata.Decline, askdata.Cancel} {
		before, modernBefore := len(olderRequests()), len(modernRequests())

		id := g.start(ada, "old__sample_text", `{}`)
		askID, _ := g.awaitAsk(ada, id)
		g.answer(ada, askID, askdata.Answer{Action: action})
		end := g.awaitEnd(ada, id)
		if got := string(end.Result) + end.Error; !strings.Contains(got, "User rejected sampling request") {
			t.Errorf("%s: the older server's tool ended with %s", action, got)
		}
		sent := olderRequests()[before:]
		if countWith(sent, `"error"`, `"code":-1,`, `"message":"User rejected sampling request"`) != 1 {
			t.Errorf("%s: the older server got %q", action, sent)
		}

		id = g.start(ada, "new__sample_text", `{}`)
		askID, _ = g.awaitAsk(ada, id)
		g.answer(ada, askID, askdata.Answer{Action: action})
		end = g.awaitEnd(ada, id)
		if got := string(end.Result) + end.Error; !strings.Contains(got, "User rejected sampling request") {
			t.Errorf("%s: the newer server's tool ended with %s", action, got)
		}
		sent = modernRequests()[modernBefore:]
		if countWith(sent, `"tools/call"`) != 1 || countWith(sent, "inputResponses") != 0 {
			t.Errorf("%s: the newer server got %q", action, sent)
		}
	}
}
