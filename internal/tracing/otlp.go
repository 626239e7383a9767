package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client sends spans to a collector over HTTP, as binary protobuf (OTLP
// specification, OTLP/HTTP). The library's own client would link gRPC into the
// program; see docs/adr/0008.
type client struct {
	settings
	http *http.Client
}

var _ otlptrace.Client = (*client)(nil)

func newClient(s settings) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = s.tls
	return &client{settings: s, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers may hold a key
	}}
}

// Start implements [otlptrace.Client].
func (c *client) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements [otlptrace.Client]. If the collector is busy, UploadTraces
// retries until the timeout of the settings.
func (c *client) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	body, err := c.encode(spans)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for wait := time.Second; ; wait *= 2 {
		err := c.post(ctx, body)
		var retryable *retryableError
		if !errors.As(err, &retryable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(retryable.retryAfter, wait/2+rand.N(wait))):
		}
	}
}

// encode returns the body of a request. TracesData has the same encoding as
// ExportTraceServiceRequest, whose package imports gRPC.
func (c *client) encode(spans []*otlp.ResourceSpans) ([]byte, error) {
	raw, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans})
	if err != nil || !c.gzip {
		return raw, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(raw)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// A retryableError means that the request may succeed later.
type retryableError struct {
	status     string
	retryAfter time.Duration // from the Retry-After header
}

func (e *retryableError) Error() string { return "the collector is busy: " + e.status }

func (c *client) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = c.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be reused
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return &retryableError{res.Status, time.Duration(min(max(seconds, 0), 60)) * time.Second}
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the collector refused the traces: %s", res.Status)
	}
	return nil
}
