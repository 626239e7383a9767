package beam_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// otlpCollector is a collector: it takes what is sent over OTLP/HTTP.
type otlpCollector struct {
	*httptest.Server
	t *testing.T

	mu    sync.Mutex
	raw   []byte
	spans []*otlp.Span
}

func newOTLPCollector(t *testing.T) *otlpCollector {
	c := &otlpCollector{t: t}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	return c
}

func (c *otlpCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		c.t.Errorf("%s: %v", r.URL, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, body...)
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// spansNamed are the spans of that name, earliest first.
func (c *otlpCollector) spansNamed(name string, want int) []*otlp.Span {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*otlp.Span
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != want {
		c.t.Fatalf("there are %d spans %q, not %d", len(found), name, want)
	}
	slices.SortFunc(found, func(a, b *otlp.Span) int { return cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano) })
	return found
}

// expectSpanUnder fails the test unless a span is in a trace, below another span.
func expectSpanUnder(t *testing.T, s *otlp.Span, traceID, parent string) {
	t.Helper()
	if got := fmt.Sprintf("%x", s.TraceId); got != traceID {
		t.Errorf("%s is in the trace %s, not %s", s.Name, got, traceID)
	}
	if got := fmt.Sprintf("%x", s.ParentSpanId); got != parent {
		t.Errorf("%s is below %s, not %s", s.Name, got, parent)
	}
}

func expectLink(t *testing.T, s, to *otlp.Span) {
	t.Helper()
	if len(s.Links) != 1 || !bytes.Equal(s.Links[0].SpanId, to.SpanId) || !bytes.Equal(s.Links[0].TraceId, to.TraceId) {
		t.Errorf("%s is not linked to %s, but to %v", s.Name, to.Name, s.Links)
	}
}

func spanID(s *otlp.Span) string { return fmt.Sprintf("%x", s.SpanId) }

// servedProgram is a program that serves.
type servedProgram struct {
	t      *testing.T
	url    string
	client *http.Client
	stop   func()
}

// serveCommand runs the program until end is called.
func serveCommand(t *testing.T, client *http.Client, photon *generators.Photon, args ...string) *servedProgram {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, stdout := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- beam.Run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), os.Stdin, stdout, t.Output(), photon)
		stdout.Close()
	}()
	line, _ := bufio.NewReader(out).ReadString('\n')
	go io.Copy(io.Discard, out)
	s := &servedProgram{t: t, url: strings.TrimSpace(strings.TrimPrefix(line, "Beam listens on ")), client: client}
	s.stop = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the program ended with %d", code)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// post posts JSON; headers are pairs of names and values.
func (s *servedProgram) post(path, body string, headers ...string) string {
	s.t.Helper()
	r, err := http.NewRequest("POST", s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		s.t.Fatalf("%s: %d %s %v", path, res.StatusCode, said, err)
	}
	return string(said)
}

// readStreamUntil reads a run's stream up to a message that contains a text, and returns
// that.
func (s *servedProgram) readStreamUntil(run, until string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), programtest.WaitTimeout)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", s.url+"/runs/"+run+"/events", nil)
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), until) {
			return strings.TrimPrefix(lines.Text(), "data: ")
		}
	}
	s.t.Fatalf("the stream ended without %s: %v", until, lines.Err())
	return ""
}

// answer answers the question with a key.
func (s *servedProgram) answer(run, key, content string, headers ...string) {
	s.t.Helper()
	var asked struct{ ID string }
	if err := json.Unmarshal([]byte(s.readStreamUntil(run, `"beam/key":"`+key+`"`)), &asked); err != nil {
		s.t.Fatal(err)
	}
	s.post("/mcp/request", `{"jsonrpc":"2.0","id":"`+asked.ID+`","result":{"action":"accept","content":`+content+`}}`, headers...)
}

// A contextRecorder is a photon that asks twice, and notes the contexts that it got.
type contextRecorder struct {
	mu       sync.Mutex
	contexts []context.Context
}

func (p *contextRecorder) newPhoton() *generators.Photon {
	return generators.New("trip", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		p.mu.Lock()
		p.contexts = append(p.contexts, ctx)
		p.mu.Unlock()
		where, err := ask.Text(yield, "where", "Where to?")
		if err != nil {
			return "", err
		}
		sure, err := ask.Confirm(yield, "sure", "Sure?")
		return fmt.Sprint(where, sure), err
	}, &generators.Options{Durable: true})
}

const (
	callerTraceID = "0af7651916cd43dd8448eb211c80319c" // a trace
	callerSpanID  = "b7ad6b7169203331"
	otherTraceID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	otherSpanID   = "00f067aa0ba902b7"
)

func newHTTPClient(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// A run is one trace, that of the request that started it, though the process
// that asked is not the one that is answered.
func TestARunIsOneTraceOverARestart(t *testing.T) {
	received, data, client, p := newOTLPCollector(t), t.TempDir(), newHTTPClient(t), &contextRecorder{}
	s := serveCommand(t, client, p.newPhoton(), "--data", data, "--traces", "otlp")
	var started struct{ ID string }
	said := s.post("/photons/trip/runs", "{}", "traceparent", "00-"+callerTraceID+"-"+callerSpanID+"-01", "tracestate", "vendor=1", "baggage", "tenant=acme")
	if err := json.Unmarshal([]byte(said), &started); err != nil {
		t.Fatal(err)
	}
	s.answer(started.ID, "where", `{"where":"Timbuktu"}`)
	s.readStreamUntil(started.ID, `"beam/key":"sure"`)
	s.stop()

	s = serveCommand(t, client, p.newPhoton(), "--data", data, "--traces", "otlp")
	s.answer(started.ID, "sure", `{"sure":true}`, "traceparent", "00-"+otherTraceID+"-"+otherSpanID+"-01")
	s.readStreamUntil(started.ID, `"beam/status":"completed"`)
	s.stop()

	start := received.spansNamed("start trip", 1)[0]
	expectSpanUnder(t, start, callerTraceID, callerSpanID)
	if start.TraceState != "vendor=1" {
		t.Errorf("the trace state is %q", start.TraceState)
	}
	lives := received.spansNamed("run trip", 2)
	for i, live := range lives {
		expectSpanUnder(t, live, callerTraceID, spanID(start))
		p.mu.Lock()
		ctx := p.contexts[i]
		p.mu.Unlock()
		if got := trace.SpanContextFromContext(ctx).SpanID().String(); got != spanID(live) {
			t.Errorf("the tool works in the span %s, not in %s", got, spanID(live))
		}
		if tenant := baggage.FromContext(ctx).Member("tenant").Value(); tenant != "acme" {
			t.Errorf("the tool's baggage says %q", tenant)
		}
	}
	where, sure := received.spansNamed("ask text", 1)[0], received.spansNamed("ask confirm", 1)[0]
	expectSpanUnder(t, where, callerTraceID, spanID(start))
	expectSpanUnder(t, sure, callerTraceID, spanID(start))
	if sure.StartTimeUnixNano >= lives[0].EndTimeUnixNano || sure.EndTimeUnixNano < lives[1].StartTimeUnixNano-uint64(time.Second) {
		t.Error("the second question did not span the restart")
	}
	answers := received.spansNamed("answer", 2)
	expectSpanUnder(t, answers[0], callerTraceID, spanID(where))
	expectSpanUnder(t, answers[1], otherTraceID, otherSpanID)
	expectLink(t, answers[1], sure)
	replay := received.spansNamed("replay trip", 1)[0]
	expectSpanUnder(t, replay, callerTraceID, spanID(start))
	expectLink(t, replay, sure)
	if bytes.Contains(received.raw, []byte("Timbuktu")) || bytes.Contains(received.raw, []byte("Where to?")) {
		t.Error("the traces hold a question or an answer")
	}
}

// An MCP request says its trace in its _meta, which counts more than the headers
// that it came with (SEP-414).
func TestAnMCPCallIsInTheTraceOfItsMeta(t *testing.T) {
	received := newOTLPCollector(t)
	s := serveCommand(t, newHTTPClient(t), (&contextRecorder{}).newPhoton(), "--memory", "--traces", "otlp")
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}`
	call := func(more, rest string) string {
		return s.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"trip","arguments":{},"_meta":{`+meta+more+`}`+rest+`}}`,
			"Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "trip",
			"traceparent", "00-"+otherTraceID+"-"+otherSpanID+"-01")
	}
	said := call(`,"traceparent":"00-`+callerTraceID+`-`+callerSpanID+`-01","tracestate":"vendor=1","baggage":"tenant=acme"`, "")
	_, after, found := strings.Cut(said, `"requestState":"`)
	if !found {
		t.Fatalf("the call is not asked anything: %s", said)
	}
	state, _, _ := strings.Cut(after, `"`)
	// Malformed contexts are as none: what the headers say counts.
	call(`,"traceparent":["00"],"tracestate":7,"baggage":"="`, `,"requestState":"`+state+`","inputResponses":{"where":{"action":"accept","content":{"where":"Timbuktu"}}}`)
	s.stop()
	start := received.spansNamed("start trip", 1)[0]
	expectSpanUnder(t, start, callerTraceID, callerSpanID)
	expectSpanUnder(t, received.spansNamed("run trip", 1)[0], callerTraceID, spanID(start))
	answer := received.spansNamed("answer", 1)[0]
	expectSpanUnder(t, answer, otherTraceID, otherSpanID)
	expectLink(t, answer, received.spansNamed("ask text", 1)[0])
}

func TestNothingIsTracedUnlessItIsWanted(t *testing.T) {
	received := newOTLPCollector(t)
	s := serveCommand(t, newHTTPClient(t), (&contextRecorder{}).newPhoton(), "--memory")
	var started struct{ ID string }
	said := s.post("/photons/trip/runs", "{}", "traceparent", "00-"+callerTraceID+"-"+callerSpanID+"-01")
	if err := json.Unmarshal([]byte(said), &started); err != nil {
		t.Fatal(err)
	}
	s.answer(started.ID, "where", `{"where":"Timbuktu"}`)
	s.stop()
	if len(received.raw) > 0 {
		t.Errorf("%d bytes were sent", len(received.raw))
	}
}

// Beam works, and ends, without the collector that it is to send to.
func TestACollectorThatIsAwayIsNoFault(t *testing.T) {
	newOTLPCollector(t).Close()
	s := serveCommand(t, newHTTPClient(t), (&contextRecorder{}).newPhoton(), "--memory", "--traces", "otlp")
	s.post("/photons/trip/runs", "{}")
	s.stop()
}
