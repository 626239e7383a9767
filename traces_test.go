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
)

// receiver is a collector: it takes what is sent over OTLP/HTTP.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu    sync.Mutex
	raw   []byte
	spans []*otlp.Span
}

func newReceiver(t *testing.T) *receiver {
	c := &receiver{t: t}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	return c
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// named are the spans of that name, earliest first.
func (c *receiver) named(name string, want int) []*otlp.Span {
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

// under fails the test unless a span is in a trace, below another span.
func under(t *testing.T, s *otlp.Span, traceID, parent string) {
	t.Helper()
	if got := fmt.Sprintf("%x", s.TraceId); got != traceID {
		t.Errorf("%s is in the trace %s, not %s", s.Name, got, traceID)
	}
	if got := fmt.Sprintf("%x", s.ParentSpanId); got != parent {
		t.Errorf("%s is below %s, not %s", s.Name, got, parent)
	}
}

func linked(t *testing.T, s, to *otlp.Span) {
	t.Helper()
	if len(s.Links) != 1 || !bytes.Equal(s.Links[0].SpanId, to.SpanId) || !bytes.Equal(s.Links[0].TraceId, to.TraceId) {
		t.Errorf("%s is not linked to %s, but to %v", s.Name, to.Name, s.Links)
	}
}

func id(s *otlp.Span) string { return fmt.Sprintf("%x", s.SpanId) }

// served is a program that serves.
type served struct {
	t      *testing.T
	url    string
	client *http.Client
	end    func()
}

// serve runs the program until end is called.
func serve(t *testing.T, client *http.Client, photon *generators.Photon, args ...string) *served {
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
	s := &served{t: t, url: strings.TrimSpace(strings.TrimPrefix(line, "Beam listens on ")), client: client}
	s.end = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the program ended with %d", code)
		}
	})
	t.Cleanup(s.end)
	return s
}

// post posts JSON; headers are pairs of names and values.
func (s *served) post(path, body string, headers ...string) string {
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

// follow reads a run's stream up to a message that contains a text, and returns
// that.
func (s *served) follow(run, until string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
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
func (s *served) answer(run, key, content string, headers ...string) {
	s.t.Helper()
	var asked struct{ ID string }
	if err := json.Unmarshal([]byte(s.follow(run, `"beam/key":"`+key+`"`)), &asked); err != nil {
		s.t.Fatal(err)
	}
	s.post("/mcp/request", `{"jsonrpc":"2.0","id":"`+asked.ID+`","result":{"action":"accept","content":`+content+`}}`, headers...)
}

// A trip is a photon that asks twice, and notes the contexts that it got.
type trip struct {
	mu   sync.Mutex
	seen []context.Context
}

func (p *trip) photon() *generators.Photon {
	return generators.New("trip", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		p.mu.Lock()
		p.seen = append(p.seen, ctx)
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
	caller      = "0af7651916cd43dd8448eb211c80319c" // a trace
	callerSpan  = "b7ad6b7169203331"
	another     = "4bf92f3577b34da6a3ce929d0e0e4736"
	anotherSpan = "00f067aa0ba902b7"
)

func newClient(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// A run is one trace, that of the request that started it, though the process
// that asked is not the one that is answered.
func TestARunIsOneTraceOverARestart(t *testing.T) {
	received, data, client, p := newReceiver(t), t.TempDir(), newClient(t), &trip{}
	s := serve(t, client, p.photon(), "--data", data, "--traces", "otlp")
	var started struct{ ID string }
	said := s.post("/photons/trip/runs", "{}", "traceparent", "00-"+caller+"-"+callerSpan+"-01", "tracestate", "vendor=1", "baggage", "tenant=acme")
	if err := json.Unmarshal([]byte(said), &started); err != nil {
		t.Fatal(err)
	}
	s.answer(started.ID, "where", `{"where":"Timbuktu"}`)
	s.follow(started.ID, `"beam/key":"sure"`)
	s.end()

	s = serve(t, client, p.photon(), "--data", data, "--traces", "otlp")
	s.answer(started.ID, "sure", `{"sure":true}`, "traceparent", "00-"+another+"-"+anotherSpan+"-01")
	s.follow(started.ID, `"beam/status":"completed"`)
	s.end()

	start := received.named("start trip", 1)[0]
	under(t, start, caller, callerSpan)
	if start.TraceState != "vendor=1" {
		t.Errorf("the trace state is %q", start.TraceState)
	}
	lives := received.named("run trip", 2)
	for i, live := range lives {
		under(t, live, caller, id(start))
		p.mu.Lock()
		ctx := p.seen[i]
		p.mu.Unlock()
		if got := trace.SpanContextFromContext(ctx).SpanID().String(); got != id(live) {
			t.Errorf("the tool works in the span %s, not in %s", got, id(live))
		}
		if tenant := baggage.FromContext(ctx).Member("tenant").Value(); tenant != "acme" {
			t.Errorf("the tool's baggage says %q", tenant)
		}
	}
	where, sure := received.named("ask text", 1)[0], received.named("ask confirm", 1)[0]
	under(t, where, caller, id(start))
	under(t, sure, caller, id(start))
	if sure.StartTimeUnixNano >= lives[0].EndTimeUnixNano || sure.EndTimeUnixNano < lives[1].StartTimeUnixNano-uint64(time.Second) {
		t.Error("the second question did not span the restart")
	}
	answers := received.named("answer", 2)
	under(t, answers[0], caller, id(where))
	under(t, answers[1], another, anotherSpan)
	linked(t, answers[1], sure)
	replay := received.named("replay trip", 1)[0]
	under(t, replay, caller, id(start))
	linked(t, replay, sure)
	if bytes.Contains(received.raw, []byte("Timbuktu")) || bytes.Contains(received.raw, []byte("Where to?")) {
		t.Error("the traces hold a question or an answer")
	}
}

// An MCP request says its trace in its _meta, which counts more than the headers
// that it came with (SEP-414).
func TestAnMCPCallIsInTheTraceOfItsMeta(t *testing.T) {
	received := newReceiver(t)
	s := serve(t, newClient(t), (&trip{}).photon(), "--memory", "--traces", "otlp")
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}`
	call := func(more, rest string) string {
		return s.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"trip","arguments":{},"_meta":{`+meta+more+`}`+rest+`}}`,
			"Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "trip",
			"traceparent", "00-"+another+"-"+anotherSpan+"-01")
	}
	said := call(`,"traceparent":"00-`+caller+`-`+callerSpan+`-01","tracestate":"vendor=1","baggage":"tenant=acme"`, "")
	_, after, found := strings.Cut(said, `"requestState":"`)
	if !found {
		t.Fatalf("the call is not asked anything: %s", said)
	}
	state, _, _ := strings.Cut(after, `"`)
	// Malformed contexts are as none: what the headers say counts.
	call(`,"traceparent":["00"],"tracestate":7,"baggage":"="`, `,"requestState":"`+state+`","inputResponses":{"where":{"action":"accept","content":{"where":"Timbuktu"}}}`)
	s.end()
	start := received.named("start trip", 1)[0]
	under(t, start, caller, callerSpan)
	under(t, received.named("run trip", 1)[0], caller, id(start))
	answer := received.named("answer", 1)[0]
	under(t, answer, another, anotherSpan)
	linked(t, answer, received.named("ask text", 1)[0])
}

func TestNothingIsTracedUnlessItIsWanted(t *testing.T) {
	received := newReceiver(t)
	s := serve(t, newClient(t), (&trip{}).photon(), "--memory")
	var started struct{ ID string }
	said := s.post("/photons/trip/runs", "{}", "traceparent", "00-"+caller+"-"+callerSpan+"-01")
	if err := json.Unmarshal([]byte(said), &started); err != nil {
		t.Fatal(err)
	}
	s.answer(started.ID, "where", `{"where":"Timbuktu"}`)
	s.end()
	if len(received.raw) > 0 {
		t.Errorf("%d bytes were sent", len(received.raw))
	}
}

// Beam works, and ends, without the collector that it is to send to.
func TestACollectorThatIsAwayIsNoFault(t *testing.T) {
	newReceiver(t).Close()
	s := serve(t, newClient(t), (&trip{}).photon(), "--memory", "--traces", "otlp")
	s.post("/photons/trip/runs", "{}")
	s.end()
}
