package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// A Part is what arrives of a reply. Exactly one field is set.
type Part struct {
	Text   string // the next text of the reply
	Notice string // why the request has to be sent again, in a sentence
	Reply  *Reply // the whole reply; the last part
}

// An Error is why there is no reply, in a sentence for people without the key.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

func (m *Model) errorf(format string, args ...any) error {
	return &Error{m.redact(fmt.Sprintf(format, args...))}
}

// Causes of a request that Beam ends itself.
var (
	errTooSlow = errors.New("too slow")
	errStalled = errors.New("stalled")
)

// Stream sends a request, the bytes of [Model.Encode], and yields the reply as it
// arrives. A request that the endpoint refuses for now, or that doesn't reach it, is sent
// again after the time that the endpoint asks for, or else with backoff; a notice says so
// before. Nothing is sent again once a reply has begun. The error is ctx's, or an
// [*Error]. Leaving the loop ends the request.
func (m *Model) Stream(ctx context.Context, body []byte) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer time.AfterFunc(time.Duration(m.Timeout), func() { cancel(errTooSlow) }).Stop()
		idle := time.AfterFunc(time.Duration(m.IdleTimeout), func() { cancel(errStalled) })
		defer idle.Stop()
		s := &stream{model: m, ctx: ctx, yield: yield, idle: idle}
		if err := s.run(body); err != nil && !errors.Is(err, errLeft) {
			yield(Part{}, s.explain(err))
		}
	}
}

// errLeft means that the caller has left the loop.
var errLeft = errors.New("the caller has left")

// A stream is one request and its reply.
type stream struct {
	model *Model
	ctx   context.Context
	yield func(Part, error) bool
	idle  *time.Timer
	reply replyBuilder
}

// explain turns the end of the context into the reason for it.
func (s *stream) explain(err error) error {
	m := s.model
	switch cause := context.Cause(s.ctx); {
	case errors.Is(cause, errTooSlow):
		return m.errorf("%s did not finish within %s.", m.Name, time.Duration(m.Timeout))
	case errors.Is(cause, errStalled):
		return m.errorf("%s sent nothing for %s.", m.Name, time.Duration(m.IdleTimeout))
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	}
	if own := (*Error)(nil); errors.As(err, &own) {
		return err
	}
	return m.errorf("The reply of %s broke off: %v.", m.Name, err)
}

// run sends the request until it is accepted, and reads the reply.
func (s *stream) run(body []byte) error {
	for attempt := 0; ; attempt++ {
		if err := s.waitForLimit(); err != nil {
			return err
		}
		response, err := s.post(body)
		if err != nil {
			if err := s.retryOr(s.describeFailure(err), 0, attempt, nil); err != nil {
				return err
			}
			continue
		}
		if response.StatusCode == http.StatusOK {
			s.model.noteLimits(response.Header)
			defer response.Body.Close()
			return s.read(response)
		}
		refusal := s.model.readRefusal(response)
		if err := s.retryOr(refusal, response.StatusCode, attempt, response.Header); err != nil {
			return err
		}
	}
}

func (s *stream) post(body []byte) (*http.Response, error) {
	m := s.model
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, m.Endpoint+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "beam")
	if m.key != "" {
		r.Header.Set("Authorization", "Bearer "+m.key)
	}
	return m.transport.RoundTrip(r) // which follows no redirects
}

// limits on a reply, in bytes.
const (
	maxEvent  = 1 << 20
	maxReply  = 4 << 20
	maxStream = 64 << 20 // with all that is no part of the reply
)

// A boundedBody is the body of a response, which fails when it is too large.
type boundedBody struct {
	io.Reader
	left int
	err  error
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, b.err
	}
	return n, err
}

// read reads the reply: a stream of events, or, from a server that doesn't stream, an
// object.
func (s *stream) read(response *http.Response) error {
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
		if err != nil {
			return err
		}
		if len(raw) > maxReply {
			return s.model.errorf("The reply of %s is larger than %d MiB.", s.model.Name, maxReply>>20)
		}
		if err := s.apply(raw); err != nil {
			return err
		}
		return s.finish()
	}
	body := &boundedBody{response.Body, maxStream, s.model.errorf("%s sent more than %d MiB.", s.model.Name, maxStream>>20)}
	for data, err := range readEvents(body, func() { s.idle.Reset(time.Duration(s.model.IdleTimeout)) }) {
		switch {
		case err != nil:
			return err
		case string(data) == "[DONE]":
			return s.finish()
		}
		if err := s.apply(data); err != nil {
			return err
		}
	}
	return s.finish()
}

// apply adds one event to the reply and yields its text.
func (s *stream) apply(data []byte) error {
	m := s.model
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return m.errorf("%s sent an event that is not valid: %.80q.", m.Name, data)
	}
	if text := c.errorText(); text != "" {
		return m.errorf("%s reports: %s", m.Name, text)
	}
	text := s.reply.add(&c)
	if s.reply.size > maxReply {
		return m.errorf("The reply of %s is larger than %d MiB.", m.Name, maxReply>>20)
	}
	if text != "" && !s.yield(Part{Text: text}, nil) {
		return errLeft
	}
	return nil
}

func (s *stream) finish() error {
	reply, err := s.reply.build(s.model)
	if err != nil {
		return s.model.errorf("The reply of %s can't be used: %v.", s.model.Name, err)
	}
	if !s.yield(Part{Reply: reply}, nil) {
		return errLeft
	}
	return nil
}
