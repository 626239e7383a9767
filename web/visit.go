package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/starfederation/datastar-go/datastar"

	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/sse"
)

// A visit is one request of an open page for what is new. With a seat it goes
// on until the page is closed or another needs the seat; without one it tells
// what there is, and the page comes back in a moment.
type visit struct {
	ctx    context.Context
	seated bool
	again  bool // the page was here before
	leave  func()
}

// comeBack is how soon a page without a seat looks in again.
const comeBack = time.Second

func (s *Server) visit(parent context.Context, r *http.Request, who run.Caller) *visit {
	v := &visit{again: r.Header.Get("Last-Event-ID") != ""}
	v.ctx, v.leave, v.seated = s.seats.take(parent, who[len(who)-1], v.again)
	return v
}

// tell makes a visit's stream of what it tells: before that, that the page is
// connected, which it may have been waiting for, and where it is; after it, if
// it is to come back, that the connection is not lost.
func (v *visit) tell(at sse.Message, told steps) steps {
	return func(yield func([]sse.Message, error) bool) {
		if !yield([]sse.Message{signals(at, `{_away: false}`)}, nil) {
			return
		}
		for messages, err := range told {
			if err != nil && v.rises() {
				break
			}
			if !yield(messages, err) || err != nil {
				return
			}
		}
		if !v.seated || v.rises() {
			bye := signals(sse.Message{Retry: comeBack}, `{_soon: true}`)
			yield([]sse.Message{bye}, nil)
		}
	}
}

// rises tells whether the page is asked to give up its seat.
func (v *visit) rises() bool { return errors.Is(context.Cause(v.ctx), errRise) }

// signals makes a message set signals of the page.
func signals(m sse.Message, object string) sse.Message {
	m.Type, m.Data = string(datastar.EventTypePatchSignals), []byte(datastar.SignalsDatalineLiteral+object)
	return m
}

// position is where in a run's log a page is: where it was rendered, or what
// came to it last.
func position(r *http.Request) (sse.Message, error) {
	last := r.Header.Get("Last-Event-ID")
	whole, torn := strings.CutSuffix(last, sse.Partly)
	if torn {
		r.Header.Set("Last-Event-ID", whole)
	}
	after, err := sse.After(r)
	return sse.Message{ID: after, Partly: torn}, err
}
