package llm

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(status int, body string, headers ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

const okReply = `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n"

// stream sends a request and returns how long it took, and its error.
func (m *Model) testStream(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	for _, e := range m.Stream(ctx, []byte("{}")) {
		err = e
	}
	return time.Since(began), err
}

func testModel(t *testing.T, transport roundTripFunc) *Model {
	m, err := Parse([]byte(`{"models":[{"name":"m","endpoint":"http://127.0.0.1:1/v1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	m.list[0].transport = transport
	return m.list[0]
}

// Without a time from the endpoint, the waits double. The endpoint's own time counts
// more, and its rate limits make the next request wait before it is refused.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := testModel(t, func(*http.Request) (*http.Response, error) {
			if n++; n <= 3 {
				return respond(503, ""), nil
			}
			return respond(200, okReply, "X-RateLimit-Remaining-Requests", "0", "X-RateLimit-Reset-Requests", "7s"), nil
		})
		if took, err := m.testStream(t.Context()); err != nil || took < 2600*time.Millisecond || took > 3500*time.Millisecond {
			t.Errorf("after three failures it took %v, %v", took, err)
		}
		if took, err := m.testStream(t.Context()); err != nil || took != 7*time.Second {
			t.Errorf("with a rate limit, it took %v, %v", took, err)
		}
		n = 2
		m = testModel(t, func(*http.Request) (*http.Response, error) {
			if n++; n == 3 {
				return respond(429, "", "Retry-After", time.Now().Add(20*time.Second).UTC().Format(http.TimeFormat)), nil
			}
			return respond(200, okReply), nil
		})
		if took, err := m.testStream(t.Context()); err != nil || took < 19*time.Second || took > 20*time.Second {
			t.Errorf("until the time that the endpoint names, it took %v, %v", took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m.postpone(time.Now().Add(time.Minute))
		if took, err := m.testStream(ctx); err == nil || took != time.Second {
			t.Errorf("canceled while it waited, it took %v, %v", took, err)
		}
	})
}

// A hangingBody sends text, and then nothing, or the text again and again, until the
// request ends.
type hangingBody struct {
	ctx   context.Context
	text  string
	every time.Duration // 0: it stops after the text
	sent  bool
}

func (b *hangingBody) Read(p []byte) (int, error) {
	if b.sent && b.every == 0 {
		<-b.ctx.Done()
	}
	if b.sent {
		time.Sleep(b.every) // in a bubble
	}
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	b.sent = true
	return copy(p, b.text), nil
}

func (b *hangingBody) Close() error { return nil }

// A slow model's request ends: without a response or any data for a while, or if the
// whole reply takes too long.
func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, transport := range map[string]roundTripFunc{
			"m sent nothing for 2m0s.": func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
			"m sent nothing for 2m0s. ": func(r *http.Request) (*http.Response, error) {
				response := respond(200, "")
				response.Body = &hangingBody{ctx: r.Context(), text: ": hello\n"}
				return response, nil
			},
			"m did not finish within 10m0s.": func(r *http.Request) (*http.Response, error) {
				response := respond(200, "")
				response.Body = &hangingBody{ctx: r.Context(), text: ": thinking\n", every: time.Minute}
				return response, nil
			},
		} {
			if took, err := testModel(t, transport).testStream(t.Context()); err == nil || err.Error() != strings.TrimSpace(want) || took < 2*time.Minute || took > 11*time.Minute {
				t.Errorf("after %v, the error is %v, want %s", took, err, want)
			}
		}
	})
}
