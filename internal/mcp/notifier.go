package mcp

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A notifier puts a run's events into notifications, as the client of one call
// wants them. It is told every event of the run in order, so that who begins
// in the middle counts on from where the one before left off.
type notifier struct {
	call *call
	// lastProgress is the highest progress that was told. It must rise with every
	// notification of a token (MCP, Progress).
	lastProgress float64
	progressSent bool
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

// recordProgress notes what a client was told, for the one that tells it on when its
// stream breaks off.
func (c *call) recordProgress(value float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = value
}

// resumeProgress goes on where another teller of the call left off.
func (n *notifier) resumeProgress() {
	n.call.mu.Lock()
	defer n.call.mu.Unlock()
	if told := n.call.progress; told > n.lastProgress {
		n.lastProgress, n.progressSent = told, true
	}
}

// buildNotification is the notification that tells an entry; nil if none does, because it
// is no event or the client wants none of its kind.
func (n *notifier) buildNotification(e runlog.Entry) ([]byte, error) {
	if !e.Kind.IsEvent() {
		return nil, nil
	}
	event, err := generators.Decode(string(e.Kind), e.Data)
	if err != nil {
		return nil, err
	}
	switch e := event.(type) {
	case *generators.StatusEvent:
		if n.call.progressToken != nil {
			return n.buildStatusNotification(e.Text), nil
		}
		return n.buildLogNotification(e.Level, "", e.Text), nil
	case *generators.ProgressEvent:
		if n.call.progressToken == nil {
			return nil, nil
		}
		return n.buildProgressNotification(n.raiseProgress(e.Done), e.Total, e.Text), nil
	case *generators.LogEvent:
		return n.buildLogNotification(e.Level, e.Logger, e.Data), nil
	case *generators.ToastEvent:
		return n.buildLogNotification(e.Level, "", e.Text), nil
	case *generators.ChunkEvent:
		return n.buildLogNotification(generators.Info, "", e.Text), nil
	}
	return nil, nil // an artifact comes with the result
}

func (n *notifier) buildProgressNotification(value, total float64, text string) []byte {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return nil // beyond what can be told; nothing can rise any more
	}
	n.lastProgress, n.progressSent = value, true
	n.call.recordProgress(value)
	if total < value { // a run that did more than it thought
		total = 0
	}
	return encodeNotification("notifications/progress", progressParams{n.call.progressToken, value, total, text})
}

// buildStatusNotification is a progress that says so; nil without a token.
func (n *notifier) buildStatusNotification(text string) []byte {
	if n.call.progressToken == nil {
		return nil
	}
	return n.buildProgressNotification(n.raiseProgress(math.Inf(-1)), 0, text)
}

// raiseProgress is the value itself, where it is more than what was told; else a little
// more than that: too little to be seen in a bar, enough to count as progress.
func (n *notifier) raiseProgress(value float64) float64 {
	switch {
	case n.progressSent && value > n.lastProgress, !n.progressSent && !math.IsInf(value, 0):
		return value
	case !n.progressSent:
		return 0
	}
	return n.lastProgress + max(1e-6, math.Nextafter(math.Abs(n.lastProgress), math.Inf(1))-math.Abs(n.lastProgress))
}

// buildLogNotification is a notifications/message.
func (n *notifier) buildLogNotification(level generators.Level, logger string, data any) []byte {
	level = level.Syslog()
	if !n.call.client.wantsLog(string(level)) {
		return nil
	}
	return encodeNotification("notifications/message", messageParams{string(level), cmp.Or(logger, n.call.photon.Name()), data})
}
