package mcp

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// A teller puts a run's events into notifications, as the client of one call
// wants them. It is told every event of the run in order, so that who begins
// in the middle counts on from where the one before left off.
type teller struct {
	call *call
	// last is the highest progress that was told. It must rise with every
	// notification of a token (MCP, Progress).
	last  float64
	begun bool
}

type (
	progressParams struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total,omitempty"`
		Message  string          `json:"message,omitempty"`
	}
	messageParams struct {
		Level  string `json:"level"`
		Logger string `json:"logger,omitempty"`
		Data   any    `json:"data"`
	}
)

// progressed notes what a client was told, for the one that tells it on when its
// stream breaks off.
func (c *call) progressed(value float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = value
}

// goOn goes on where another teller of the call left off.
func (t *teller) goOn() {
	t.call.mu.Lock()
	defer t.call.mu.Unlock()
	if told := t.call.progress; told > t.last {
		t.last, t.begun = told, true
	}
}

// tell is the notification that tells an entry; nil if none does, because it
// is no event or the client wants none of its kind.
func (t *teller) tell(e log.Entry) ([]byte, error) {
	if !e.Kind.IsEvent() {
		return nil, nil
	}
	event, err := generators.Decode(string(e.Kind), e.Data)
	if err != nil {
		return nil, err
	}
	switch e := event.(type) {
	case *generators.StatusEvent:
		if t.call.token != nil {
			return t.waits(e.Text), nil
		}
		return t.log(e.Level, "", e.Text), nil
	case *generators.ProgressEvent:
		if t.call.token == nil {
			return nil, nil
		}
		return t.progress(t.rise(e.Done), e.Total, e.Text), nil
	case *generators.LogEvent:
		return t.log(e.Level, e.Logger, e.Data), nil
	case *generators.ToastEvent:
		return t.log(e.Level, "", e.Text), nil
	case *generators.ChunkEvent:
		return t.log(generators.Info, "", e.Text), nil
	}
	return nil, nil // an artifact comes with the result
}

func (t *teller) progress(value, total float64, text string) []byte {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return nil // beyond what can be told; nothing can rise any more
	}
	t.last, t.begun = value, true
	t.call.progressed(value)
	if total < value { // a run that did more than it thought
		total = 0
	}
	return notification("notifications/progress", progressParams{t.call.token, value, total, text})
}

// waits is a progress that says so; nil without a token.
func (t *teller) waits(text string) []byte {
	if t.call.token == nil {
		return nil
	}
	return t.progress(t.rise(math.Inf(-1)), 0, text)
}

// rise is the value itself, where it is more than what was told; else a little
// more than that: too little to be seen in a bar, enough to count as progress.
func (t *teller) rise(value float64) float64 {
	switch {
	case t.begun && value > t.last, !t.begun && !math.IsInf(value, 0):
		return value
	case !t.begun:
		return 0
	}
	return t.last + max(1e-6, math.Nextafter(math.Abs(t.last), math.Inf(1))-math.Abs(t.last))
}

// log is a notifications/message.
func (t *teller) log(level generators.Level, logger string, data any) []byte {
	level = level.Syslog()
	if !t.call.client.wants(string(level)) {
		return nil
	}
	return notification("notifications/message", messageParams{string(level), cmp.Or(logger, t.call.photon.Name()), data})
}
