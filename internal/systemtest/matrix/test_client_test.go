package matrix

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A serverMessage is a JSON-RPC message from the server.
type serverMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID     json.RawMessage `json:"requestId"`
		ElicitationID string          `json:"elicitationId"`
		URL           string          `json:"url"`
		Message       string          `json:"message"`
		Data          any             `json:"data"`
	} `json:"params"`
	Result *toolResult `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	raw string
}

type toolResult struct {
	Type    string `json:"resultType"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	State string `json:"requestState"`
	Meta  struct {
		Waiting struct {
			Run string `json:"run"`
		} `json:"io.github.photon-beam/waiting"`
	} `json:"_meta"`
}

func (r *toolResult) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[len(r.Content)-1].Text
}

// A testClient exchanges messages over one of the transports. It receives them in
// order.
type testClient struct {
	t        testing.TB
	sendLine func(line string)
	received chan string
}

// transports connect to a Beam's MCP server.
var transports = map[string]func(*testBeam) *testClient{"stdio": connectStdio, "http": connectHTTP}

// nextMessage returns the next message of any kind.
func (w *testClient) nextMessage() serverMessage {
	w.t.Helper()
	select {
	case line, ok := <-w.received:
		if !ok {
			w.t.Fatal("the server closed the connection")
		}
		m := serverMessage{raw: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			w.t.Fatalf("%v in %s", err, line)
		}
		return m
	case <-time.After(programtest.WaitTimeout):
		w.t.Fatal("the server sent nothing")
	}
	return serverMessage{}
}

// connectStdio connects over OS pipes.
func connectStdio(b *testBeam) *testClient {
	inR, inW, err := os.Pipe()
	must(b.t, err)
	outR, outW, err := os.Pipe()
	must(b.t, err)
	w := &testClient{t: b.t, received: make(chan string, 1000)}
	w.sendLine = func(line string) {
		if _, err := io.WriteString(inW, line+"\n"); err != nil {
			b.t.Error(err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		err := b.mcp.ServeStdio(b.t.Context(), inR, outW, operator, func() (string, error) { return b.origin, nil })
		outW.Close()
		ended <- err
	}()
	go func() {
		defer close(w.received)
		for lines := bufio.NewScanner(outR); lines.Scan(); {
			w.received <- lines.Text()
		}
	}()
	b.t.Cleanup(func() {
		inW.Close()
		must(b.t, <-ended)
		inR.Close()
		outR.Close()
	})
	return w
}

// connectHTTP connects over HTTP. Each message is a request, whose response may be a
// stream.
func connectHTTP(b *testBeam) *testClient {
	w := &testClient{t: b.t, received: make(chan string, 1000)}
	var reading sync.WaitGroup
	var session string
	w.sendLine = func(line string) {
		r := w.newHTTPRequest(b.origin+"/mcp", line)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		response, err := (&http.Client{Transport: ownTransport}).Do(r)
		if err != nil {
			b.t.Error(err)
			return
		}
		if id := response.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		reading.Go(func() { w.readResponse(response) })
	}
	b.t.Cleanup(reading.Wait) // before the server ends
	return w
}

func (w *testClient) newHTTPRequest(address, line string) *http.Request {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal([]byte(line), &m)
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, address, strings.NewReader(line))
	must(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if m.Params.Meta.Version != "" {
		r.Header.Set("MCP-Protocol-Version", m.Params.Meta.Version)
		r.Header.Set("Mcp-Method", m.Method)
		r.Header.Set("Mcp-Name", m.Params.Name)
	}
	return r
}

// readResponse reads a response's messages until it ends.
func (w *testClient) readResponse(r *http.Response) {
	defer r.Body.Close()
	if r.Header.Get("Content-Type") == "application/json" {
		if body, err := io.ReadAll(r.Body); err == nil && len(body) > 0 {
			w.received <- string(bytes.TrimSpace(body))
		}
		return
	}
	lines := bufio.NewReader(r.Body)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
			w.received <- strings.TrimSpace(data)
		}
		if err != nil {
			return
		}
	}
}
