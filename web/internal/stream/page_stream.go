package stream

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/starfederation/datastar-go/datastar"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/sse"
)

// A pageStream is a request of an open page for its updates. With a slot, which the
// caller's budget of streams must allow, it stays open until the page is closed or another
// page needs the slot. Without a slot it sends the current updates and ends, and the page
// reconnects after reconnectDelay.
type pageStream struct {
	ctx         context.Context
	hasSlot     bool
	reconnected bool // the page had a stream before
	release     func()
}

// reconnectDelay is how long a page without a slot waits before it reconnects.
const reconnectDelay = time.Second

func (h *Handlers) openPageStream(parent context.Context, r *http.Request, caller generators.Caller) *pageStream {
	p := &pageStream{reconnected: r.Header.Get("Last-Event-ID") != ""}
	endStream, err := h.Budget.Acquire(caller.ID)
	if err != nil { // the page polls
		p.ctx, p.release = parent, func() {}
		return p
	}
	var releaseSlot func()
	p.ctx, releaseSlot, p.hasSlot = h.slots.acquire(parent, h.Callers.BrowserOf(r, caller), p.reconnected)
	p.release = func() { releaseSlot(); endStream() }
	return p
}

// withSignals adds signals around updates: first that the page is connected, with its
// position; at the end, if the page is to reconnect, that the connection is not lost.
func (p *pageStream) withSignals(position sse.Message, updates messageStream) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		if !yield([]sse.Message{signalsMessage(position, `{_disconnected: false}`)}, nil) {
			return
		}
		for messages, err := range updates {
			if err != nil && p.slotRevoked() {
				break
			}
			if !yield(messages, err) || err != nil {
				return
			}
		}
		if !p.hasSlot || p.slotRevoked() {
			last := signalsMessage(sse.Message{Retry: reconnectDelay}, `{_reconnecting: true}`)
			yield([]sse.Message{last}, nil)
		}
	}
}

// slotRevoked reports whether the page lost its slot.
func (p *pageStream) slotRevoked() bool { return errors.Is(context.Cause(p.ctx), errSlotRevoked) }

// signalsMessage returns m as a message that sets signals of the page.
func signalsMessage(m sse.Message, object string) sse.Message {
	m.Type, m.Data = string(datastar.EventTypePatchSignals), []byte(datastar.SignalsDatalineLiteral+object)
	return m
}

// resumePosition returns the position of a page in a run's log: where it was rendered,
// or the last event that it received.
func resumePosition(r *http.Request) (sse.Message, error) {
	last := r.Header.Get("Last-Event-ID")
	id, partial := strings.CutSuffix(last, sse.PartialMark)
	if partial {
		r.Header.Set("Last-Event-ID", id)
	}
	after, err := sse.ResumeAfter(r)
	return sse.Message{ID: after, Partial: partial}, err
}

// A messageStream yields the messages of a stream in batches.
type messageStream = iter.Seq2[[]sse.Message, error]

// mergeStreams merges two streams as their batches arrive. It ends with first if
// secondIsEndless, else with both.
func mergeStreams[T any](first, second iter.Seq2[[]T, error], secondIsEndless bool) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		done := make(chan struct{})
		defer close(done)
		a, b := startStream(done, first), startStream(done, second)
		for a != nil || b != nil && !secondIsEndless {
			var s streamItem[T]
			var more bool
			select {
			case s, more = <-a:
				if !more {
					a = nil
				}
			case s, more = <-b:
				if !more {
					b = nil
				}
			}
			if more && !yield(s.batch, s.err) {
				return
			}
		}
	}
}

type streamItem[T any] struct {
	batch []T
	err   error
}

// startStream runs a stream in a goroutine until it ends or done is closed.
func startStream[T any](done <-chan struct{}, run iter.Seq2[[]T, error]) <-chan streamItem[T] {
	items := make(chan streamItem[T])
	go func() {
		defer close(items)
		for batch, err := range run {
			select {
			case items <- streamItem[T]{batch, err}:
			case <-done:
				return
			}
		}
	}()
	return items
}
