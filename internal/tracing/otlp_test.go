package tracing

import (
	"compress/gzip"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/photon-beam/beam/internal/engine"
)

// A testTracer is a tracer that has recorded the span of one run.
type testTracer struct {
	*Tracer
	logged strings.Builder
}

// traceOneRun opens a tracer with settings from the environment, and records a span.
func traceOneRun(t *testing.T, open func(*slog.Logger) (*Tracer, error)) *testTracer {
	t.Helper()
	var b testTracer
	var err error
	if b.Tracer, err = open(slog.New(slog.NewTextHandler(&b.logged, nil))); err != nil {
		t.Fatal(err)
	}
	_, done := b.TraceStart(t.Context(), engine.TracedRun{ID: "7f3c", Photon: "wizard"})
	done(nil)
	return &b
}

// newTestClient returns a client that sends to a collector without a network.
func newTestClient(t *testing.T, c *fakeCollector) *client {
	t.Helper()
	s, err := readSettings()
	if err != nil {
		t.Fatal(err)
	}
	sender := newClient(s)
	sender.http.Transport = c
	return sender
}

// A fakeCollector answers requests with statuses, one after the other.
type fakeCollector struct {
	t       *testing.T
	answers []int
	tries   int
}

// RoundTrip implements [http.RoundTripper].
func (c *fakeCollector) RoundTrip(r *http.Request) (*http.Response, error) {
	if body, err := io.ReadAll(r.Body); len(body) == 0 || err != nil {
		c.t.Errorf("nothing was sent: %v", err)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Location", "/elsewhere")
	w.Header().Set("Retry-After", "30")
	w.WriteHeader(c.answers[c.tries])
	c.tries++
	return w.Result(), nil
}

func TestSpansGoWhereTheEnvironmentSays(t *testing.T) {
	var got *collector.ExportTraceServiceRequest
	var asked *http.Request
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		asked, got = r, new(collector.ExportTraceServiceRequest)
		body, err := io.ReadAll(z)
		if err == nil {
			err = proto.Unmarshal(body, got)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/collect/")
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", ca)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-everything=1")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=a%20b, x-other=2")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "120000")
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "120000")
	tracer := traceOneRun(t, func(l *slog.Logger) (*Tracer, error) { return Open(t.Context(), "1.2.3", l) })
	// Closing waits for a second only.
	if err := errors.Join(tracer.provider.ForceFlush(t.Context()), tracer.Close()); err != nil || tracer.logged.Len() > 0 {
		t.Errorf("%q is said, %v", tracer.logged.String(), err)
	}
	if asked == nil {
		t.Fatal("nothing was sent")
	}
	if asked.URL.Path != "/collect/v1/traces" || asked.Header.Get("X-Key") != "a b" || asked.Header.Get("X-Everything") != "" {
		t.Errorf("%s was asked, with %v", asked.URL, asked.Header)
	}
	attributes := map[string]string{}
	for _, a := range got.ResourceSpans[0].Resource.Attributes {
		attributes[a.Key] = a.Value.GetStringValue()
	}
	if attributes["service.name"] != "beam" || attributes["service.version"] != "1.2.3" || attributes["deployment.environment"] != "test" {
		t.Errorf("the resource is %v", attributes)
	}
	if name := got.ResourceSpans[0].ScopeSpans[0].Spans[0].Name; name != "start wizard" {
		t.Errorf("the span is %q", name)
	}
}

func TestWhatTheCollectorAnswers(t *testing.T) {
	tests := []struct {
		name    string
		answers []int
		tries   int
		logged  string
	}{
		{"it takes them", []int{200}, 1, ""},
		{"it refuses them", []int{400, 200}, 1, "400 Bad Request"},
		{"it is elsewhere, where our headers may not go", []int{307, 200}, 1, "307 Temporary Redirect"},
		{"it is busy for long", []int{503, 200}, 1, "deadline exceeded"}, // closing waits a second at most
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &fakeCollector{t: t, answers: tt.answers}
				tracer := traceOneRun(t, func(l *slog.Logger) (*Tracer, error) { return open(t.Context(), newTestClient(t, c), "1.2.3", l) })
				began := time.Now()
				err := tracer.Close()
				if took := time.Since(began); took > time.Second {
					t.Errorf("closing took %s", took)
				}
				time.Sleep(time.Minute) // until what is still being sent is given up
				synctest.Wait()
				logged := tracer.logged.String()
				if err != nil {
					logged = err.Error()
				}
				if !strings.Contains(logged, tt.logged) || tt.logged == "" && logged != "" {
					t.Errorf("%q is said", logged)
				}
				if c.tries != tt.tries {
					t.Errorf("it was tried %d times", c.tries)
				}
			})
		})
	}
}

// Spans are sent again if the collector was busy.
func TestSpansAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &fakeCollector{t: t, answers: []int{http.StatusTooManyRequests, http.StatusOK}}
		c := newTestClient(t, busy)
		c.timeout = time.Hour
		began := time.Now()
		if err := c.UploadTraces(t.Context(), sampleSpans()); err != nil || busy.tries != 2 {
			t.Errorf("it was tried %d times: %v", busy.tries, err)
		}
		if took := time.Since(began); took < 30*time.Second {
			t.Errorf("it was tried again after %s, and not as the collector said", took)
		}
	})
}

func TestWrongSettingsAreRefused(t *testing.T) {
	tests := []struct{ variable, value, want string }{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "must be http/protobuf"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "must be http/protobuf"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "must be an address"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://localhost:4317", "must be an address"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://%", "must be an address"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "must be a number of milliseconds"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "0", "must be a number of milliseconds"},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "must be gzip or none"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "s3cret", "must be headers"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a b=s3cret", "must be headers"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0d%0ab: c", "must be headers"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere", "can't be read"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", os.DevNull, "without a certificate"},
		{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", os.DevNull, "can't be used"},
	}
	for _, tt := range tests {
		t.Run(tt.variable+"="+tt.value, func(t *testing.T) {
			t.Setenv(tt.variable, tt.value)
			_, err := Open(t.Context(), "test", slog.Default())
			if err == nil || !strings.Contains(err.Error(), tt.variable+" ") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func sampleSpans() []*otlp.ResourceSpans {
	return []*otlp.ResourceSpans{{ScopeSpans: []*otlp.ScopeSpans{{Spans: []*otlp.Span{{Name: "start wizard"}}}}}}
}
