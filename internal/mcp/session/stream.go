package session

import (
	"context"
	"sync"

	"github.com/photon-beam/beam/internal/mcp/requests"
)

// A Stream is one for messages that belong to no request: the only one over stdio, and
// that of GET over HTTP.
type Stream struct {
	Context context.Context // ends with the stream
	Sender  requests.Sender
	cancel  context.CancelFunc
}

// A Standalone has the session's stream for messages that belong to no request, if there
// is one. The zero value has none.
type Standalone struct {
	mu      sync.Mutex
	current *Stream
}

// Open registers the stream. It ends an earlier one, which may be dead without having
// noticed. The caller must call the returned function when the stream ends.
func (s *Standalone) Open(ctx context.Context, out requests.Sender) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	mine := &Stream{ctx, out, cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current.cancel()
	}
	s.current = mine
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.current == mine {
			s.current = nil
		}
	}
}

// Current returns the stream, or nil if there is none.
func (s *Standalone) Current() *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}
