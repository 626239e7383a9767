package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
)

func TestServerThatIgnoresTheProbeIsInitialized(t *testing.T) {
	s := connect(t, serveRaw(t, "ignore discover,version=2025-03-26"), func(o *client.Options) { o.ProbeTimeout = 20 * time.Millisecond })
	if v := s.Server().Version; v != "2025-03-26" {
		t.Errorf("the version is %s", v)
	}
}

func TestConnectSaysWhatFailed(t *testing.T) {
	unauthorized := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	redirecting := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
	}))
	for _, tt := range []struct {
		name   string
		server client.Target
		want   string
	}{
		{"it responds to nothing", serveRaw(t, "ignore discover,ignore initialize"), "didn't respond to"},
		{"it chooses an unknown version", serveRaw(t, "version=1999-01-01"), `it chose the protocol version "1999-01-01"`},
		{"it ends", client.Target{Command: "/bin/false"}, "the process ended: exit status 1"},
		{"it doesn't exist", client.Target{Command: "/no/such/program"}, "the command can't be started"},
		{"nobody listens", client.Target{URL: "http://127.0.0.1:1/?key=hidden"}, "the server can't be reached"},
		{"it wants credentials", unauthorized, "HTTP status 401"},
		{"it redirects", redirecting, "redirects elsewhere"},
		{"it is neither", client.Target{}, "neither a command nor a url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timeout := time.Minute // a busy machine starts processes late
			if tt.want == "didn't respond to" {
				timeout = 500 * time.Millisecond
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), timeout, errors.New("too slow"))
			defer cancel()
			s, err := client.Connect(ctx, tt.server, client.Options{ProbeTimeout: 50 * time.Millisecond})
			if err == nil {
				s.Close()
				t.Fatal("it is connected")
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error is %q, want %q in it", err, tt.want)
			}
		})
	}
}

// A server of 2026-07-28 may refuse the first request with the versions that it speaks.
func TestRefusedVersion(t *testing.T) {
	for _, tt := range []struct{ supported, want string }{
		{`["2026-07-28"]`, "2026-07-28"},
		{`["2025-06-18","2024-11-05"]`, "2025-06-18"},
	} {
		requests := 0
		s := connect(t, serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			m := readMessage(r)
			w.Header().Set("Content-Type", "application/json")
			switch {
			case m.Method == "server/discover" && requests > 0:
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":%s,"capabilities":{}}}`, m.ID, tt.supported)
			case m.Method == "server/discover":
				requests++
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"unsupported","data":{"supported":%s}}}`, m.ID, tt.supported)
			case m.Method == "initialize":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%s,"capabilities":{}}}`, m.ID, rawMember(m.Params, "protocolVersion"))
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		})), nil)
		if v := s.Server().Version; v != tt.want {
			t.Errorf("with %s, the version is %s", tt.supported, v)
		}
	}
}

type rawMessage struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
}

func readMessage(r *http.Request) (m rawMessage) {
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	return m
}

func rawMember(object json.RawMessage, name string) json.RawMessage {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(object, &members)
	return members[name]
}

// A server that is slow to start gets both the probe and initialize. Whichever it then
// serves, it and the session agree on the version.
func TestServerThatGetsProbeAndInitialize(t *testing.T) {
	for _, kind := range []string{"go-sdk", "mcp-go"} {
		s, err := client.Connect(t.Context(), serveChild(t, kind), client.Options{ProbeTimeout: time.Nanosecond, Capabilities: json.RawMessage(`{"elicitation":{}}`)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got := call(t, s, "ask", "{}", func(e client.Event) {
			if e.Request != nil {
				e.Request.Reply(json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`))
			}
		})
		if !strings.Contains(got, "Ada") {
			t.Errorf("%s of version %s returned %s", kind, s.Server().Version, got)
		}
	}
}

// startedVariable names the file that the server of serveLateProbe creates.
const startedVariable = "CLIENT_TEST_STARTED"

// serveLateProbe serves a session of both eras. Its first process has something else to do
// between the responses to initialize and to the probe; one that is only probed has not.
func serveLateProbe() {
	_, err := os.Stat(os.Getenv(startedVariable))
	isFirst := err != nil
	_ = os.WriteFile(os.Getenv(startedVariable), nil, 0o600)
	var probe json.RawMessage
	respond := func(id json.RawMessage, result string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var m rawMessage
		_ = json.Unmarshal(lines.Bytes(), &m)
		if m.Method == "server/discover" {
			probe = m.ID
		}
		if probe != nil && (m.Method == "ping" || !isFirst) {
			respond(probe, `{"supportedVersions":["2026-07-28"],"capabilities":{}}`)
			probe = nil
		}
		switch m.Method {
		case "initialize":
			respond(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{}}`)
		case "ping":
			respond(m.ID, "{}")
		}
	}
}

// However long a busy server takes for its response to the probe after that to initialize,
// the session is of the newer version.
func TestLateResponseToTheProbe(t *testing.T) {
	server := serveChild(t, "late probe")
	server.Env[startedVariable] = filepath.Join(t.TempDir(), "started")
	s := connect(t, server, func(o *client.Options) { o.ProbeTimeout = time.Nanosecond })
	if v := s.Server().Version; v != "2026-07-28" {
		t.Errorf("the version is %s", v)
	}
}
