package replay

import (
	"encoding/json"
	"hash/maphash"
	"math"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A replay skips what the log has of what the generator yields. Goroutines interleave
// anew, so events are recognized by what they are: first among those of the same
// goroutine, then among those of goroutines that run at the same time, which may have
// shared their work in another way. An event that the log doesn't have, but that differs
// only in numbers from one that its goroutine had yielded between the same two calls, such
// as a duration, is taken for that one. If somebody yields that one later after all, the
// other is recorded then: so what is deterministic is recorded once, whatever the order.
//
// The events of a step are not replayed with it. If the step is repeated, they are
// superseded; see [runlog.Repeated].

// A Yielded is an event as a generator yields it.
type Yielded struct {
	Event           generators.Event
	Goroutine, Step string
}

// A Form identifies an event as the log has it.
type Form struct {
	content uint64
	text    uint64 // of the content without what has digits
}

var eventSeed = maphash.MakeSeed()

// NewForm returns the form of an event of a kind.
func NewForm(kind string, data json.RawMessage) Form {
	var all, text maphash.Hash
	all.SetSeed(eventSeed)
	text.SetSeed(eventSeed)
	all.WriteString(kind)
	all.Write(data)
	text.WriteString(kind)
	for i := 0; i < len(data); {
		end, hasDigit := i, false
		for end < len(data) && isWordByte(data[end]) {
			hasDigit = hasDigit || data[end] >= '0' && data[end] <= '9'
			end++
		}
		if end == i {
			end++
		}
		if !hasDigit {
			text.Write(data[i:end])
		}
		i = end
	}
	return Form{all.Sum64(), text.Sum64()}
}

// isWordByte reports whether b may be part of a number, a time or an id.
func isWordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '.' || b == ':' || b == '-' || b == '+' || b >= 0x80
}

// A recordedEvent is one that the log has and the replay hasn't reached.
type recordedEvent struct {
	Form
	seq       uint64
	goroutine string
	replayed  bool
}

// A recordedGoroutine is what the log has of a goroutine.
type recordedGoroutine struct {
	events   []*recordedEvent // from the first that isn't replayed
	calls    []*Call          // likewise
	lastCall uint64           // ordinal of the last replayed call; the maximum after one that isn't recorded
}

func (h *History) goroutine(name string) *recordedGoroutine {
	g := h.goroutines[name]
	if g == nil {
		g = new(recordedGoroutine)
		h.goroutines[name] = g
	}
	return g
}

// addEvent adds an event of the log.
func (h *History) addEvent(e runlog.Entry) {
	switch {
	case !h.named:
		h.trailingEvents++
	case e.Step == "":
		r := &recordedEvent{Form: NewForm(string(e.Kind), e.Data), seq: e.Seq, goroutine: e.Goroutine}
		h.events[r.content] = append(h.events[r.content], r)
		g := h.goroutine(e.Goroutine)
		g.events = append(g.events, r)
		h.eventCount++
	}
}

// HasEvents reports whether the log may have an event that the generator yields now.
func (h *History) HasEvents() bool { return h != nil && (h.eventCount > 0 || len(h.mistaken) > 0) }

// Match reports whether the log has an event. If it has, but the entry was taken for
// another event before, Match returns that one: it is missing from the log.
func (h *History) Match(y Yielded, form Form, ranTogether func(a, b string) bool) (missing *Yielded, recorded bool) {
	if r := h.findEvent(y, form, ranTogether); r != nil {
		h.takeEvent(r)
		return nil, true
	}
	if y.Step != "" {
		return nil, false
	}
	if others := h.mistaken[form.content]; len(others) > 0 {
		if h.mistaken[form.content] = others[1:]; len(others) == 1 {
			delete(h.mistaken, form.content)
		}
		return &others[0], true
	}
	if r := h.findSimilarEvent(y, form); r != nil {
		h.takeEvent(r)
		h.mistaken[r.content] = append(h.mistaken[r.content], y)
		return nil, true
	}
	return nil, false
}

// findEvent returns the recorded event with the same content, or nil. What a step yields
// can only be recorded outside of it if a goroutine beside the step shares its yield.
func (h *History) findEvent(y Yielded, form Form, ranTogether func(a, b string) bool) *recordedEvent {
	same := h.events[form.content]
	if i := slices.IndexFunc(same, func(r *recordedEvent) bool { return r.goroutine == y.Goroutine }); i >= 0 {
		return same[i]
	}
	if i := slices.IndexFunc(same, func(r *recordedEvent) bool { return ranTogether(y.Goroutine, r.goroutine) }); i >= 0 && y.Step == "" {
		return same[i]
	}
	return nil
}

// maxSimilar limits how many events are compared with one that isn't recorded.
const maxSimilar = 100

// findSimilarEvent returns the first recorded event between the calls of the goroutine that
// differs only in numbers, or nil.
func (h *History) findSimilarEvent(y Yielded, form Form) *recordedEvent {
	g := h.goroutine(y.Goroutine)
	nextCall := uint64(math.MaxUint64)
	if len(g.calls) > 0 {
		nextCall = g.calls[0].seq
	}
	compared := 0
	for _, r := range g.events {
		if r.replayed || r.seq < g.lastCall {
			continue
		}
		if compared++; r.seq > nextCall || compared > maxSimilar {
			break
		}
		if r.text == form.text {
			return r
		}
	}
	return nil
}

func (h *History) takeEvent(r *recordedEvent) {
	r.replayed = true
	h.eventCount--
	switch same := h.events[r.content]; {
	case len(same) == 1:
		delete(h.events, r.content)
	case same[0] == r: // mostly, and there may be many
		h.events[r.content] = same[1:]
	default:
		i := slices.Index(same, r)
		h.events[r.content] = slices.Delete(same, i, i+1)
	}
	g := h.goroutine(r.goroutine)
	for len(g.events) > 0 && g.events[0].replayed {
		g.events = g.events[1:]
	}
}
