package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/starfederation/datastar-go/datastar"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/sse"
)

// A pageStream is one request of an open page for what is new. With a seat it goes
// on until the page is closed or another needs the seat; without one it tells
// what there is, and the page comes back in a moment.
type pageStream struct {
	ctx         context.Context
	hasSlot     bool
	reconnected bool // the page was here before
	release     func()
}

// reconnectDelay is how soon a page without a seat looks in again.
const reconnectDelay = time.Second

func (s *Server) openPageStream(parent context.Context, r *http.Request, who engine.Caller) *pageStream {
	v := &pageStream{reconnected: r.Header.Get("Last-Event-ID") != ""}
	v.ctx, v.release, v.hasSlot = s.streamSlots.acquire(parent, who[len(who)-1], v.reconnected)
	return v
}

// withSignals makes a visit's stream of what it tells: before that, that the page is
// connected, which it may have been waiting for, and where it is; after it, if
// it is to come back, that the connection is not lost.
func (v *pageStream) withSignals(at sse.Message, told messageStream) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		if !yield([]sse.Message{signalsMessage(at, `{_away: false}`)}, nil) {
			return
		}
		for messages, err := range told {
			if err != nil && v.slotRevoked() {
				break
			}
			if !yield(messages, err) || err != nil {
				return
			}
		}
		if !v.hasSlot || v.slotRevoked() {
			bye := signalsMessage(sse.Message{Retry: reconnectDelay}, `{_soon: true}`)
			yield([]sse.Message{bye}, nil)
		}
	}
}

// slotRevoked tells whether the page is asked to give up its seat.
func (v *pageStream) slotRevoked() bool { return errors.Is(context.Cause(v.ctx), errSlotRevoked) }

// signalsMessage makes a message set signals of the page.
func signalsMessage(m sse.Message, object string) sse.Message {
	m.Type, m.Data = string(datastar.EventTypePatchSignals), []byte(datastar.SignalsDatalineLiteral+object)
	return m
}

// resumePosition is where in a run's log a page is: where it was rendered, or what
// came to it last.
func resumePosition(r *http.Request) (sse.Message, error) {
	last := r.Header.Get("Last-Event-ID")
	whole, torn := strings.CutSuffix(last, sse.PartialMark)
	if torn {
		r.Header.Set("Last-Event-ID", whole)
	}
	after, err := sse.ResumeAfter(r)
	return sse.Message{ID: after, Partial: torn}, err
}
