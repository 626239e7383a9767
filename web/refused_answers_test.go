package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestARefusedAnswerIsAJSONRPCError checks that a JSON-RPC client always gets JSON-RPC
// errors.
func TestARefusedAnswerIsAJSONRPCError(t *testing.T) {
	p := newSite(t, "").newSession()
	for _, tt := range []struct {
		name, body, mediaType string
		want                  int
	}{
		{"too large", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1<<20) + `"}`, "application/json", http.StatusRequestEntityTooLarge},
		{"of another type of JSON", "{}", "application/merge-patch+json", http.StatusUnsupportedMediaType},
		{"of another type", "{}", "text/plain", http.StatusUnsupportedMediaType},
	} {
		res := p.request("POST", "/mcp/request", tt.body, "Content-Type", tt.mediaType, "Accept", "application/json")
		expectStatus(t, res, tt.want)
		said := decodeJSON[struct {
			Version string `json:"jsonrpc"`
			ID      any
			Error   struct {
				Code    int
				Message string
			}
		}](t, res)
		if said.Version != "2.0" || said.ID != nil || said.Error.Code != -32600 || said.Error.Message == "" {
			t.Errorf("%s: %+v", tt.name, said)
		}
	}
}

func TestAnIdempotencyKeyIsBounded(t *testing.T) {
	p := newSite(t, "").newSession()
	expectStatus(t, p.requestJSON("POST", "/photons/wizard/runs", "{}", "Idempotency-Key", strings.Repeat("k", 255)), http.StatusCreated)
	expectStatus(t, p.requestJSON("POST", "/photons/wizard/runs", "{}", "Idempotency-Key", strings.Repeat("k", 256)), http.StatusBadRequest)
}

// TestAListTellsRunsInputs checks that lists distinguish the runs of a photon by their
// inputs.
func TestAListTellsRunsInputs(t *testing.T) {
	p := newSite(t, "").newSession()
	p.startRun("burst", `{"events":4321}`)
	page := readText(t, p.request("GET", "/runs", "", "Accept", "text/html"))
	if strings.Count(page, "4321") != 2 {
		t.Error("the list and what stands beside it do not both tell the input")
	}
}
