package calls

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/runlog"
)

// A stream is one on which a client follows a run: what the client has been told of the
// run, and how it is told more. Its methods must not be called concurrently.
type stream struct {
	run      *run
	sender   requests.Sender
	outlet   *outlet
	progress *progressCounter
	last     uint64 // ordinal of the last entry that was handled
	state    msg.State
}

// sendEvent sends the notification of an event, if it has one.
func (s *stream) sendEvent(e runlog.Entry) error {
	notification, err := s.run.translator().Notification(&s.state, e)
	if err != nil || notification == nil {
		return err
	}
	s.recordProgress(false)
	return s.sender.Send(s.run.cursor(e.Seq), notification)
}

// skipEvent updates the state with an event that the client received before.
func (s *stream) skipEvent(e runlog.Entry) error {
	_, err := s.run.translator().Notification(&s.state, e)
	return err
}

// sendStatus sends progress for what the log does not have, as that the call waits, if the
// client wants progress. The progress value rises, as MCP requires.
func (s *stream) sendStatus(text string) error {
	return s.outlet.send(s.sender, s.buildStatus(text))
}

// sendNotice is sendStatus, and sends the same as a log message.
func (s *stream) sendNotice(text string) error {
	return s.outlet.send(s.sender, s.buildStatus(text), s.run.translator().LogMessage(generators.Notice, text, "log"))
}

func (s *stream) buildStatus(text string) []byte {
	n := s.run.translator().StatusMessage(&s.state, text)
	if n != nil {
		s.recordProgress(true)
	}
	return n
}

// recordProgress keeps the last progress for the stream that goes on when this one breaks
// off.
func (s *stream) recordProgress(unrecorded bool) {
	value, sent := s.state.Progress.Last()
	s.progress.record(value, sent && s.run.progressToken != nil, unrecorded)
}

// catchUp reads the entries that the client received before, up to after, without sending
// them.
func (s *stream) catchUp(ctx context.Context, after uint64) error {
	s.last = after
	batches, err := s.run.engine.Read(ctx, s.run.client.Caller, s.run.id, 0)
	if err != nil {
		return err
	}
	for batch, err := range batches {
		if err != nil {
			return err
		}
		for _, e := range batch {
			if e.Seq > after {
				return nil
			}
			if err := s.skipEvent(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipHistory reads the run's log without sending it. It returns the ordinals of the open
// questions, or the run's end.
func (s *stream) skipHistory(ctx context.Context) (open []uint64, finished *runlog.Entry, err error) {
	batches, err := s.run.engine.Read(ctx, s.run.client.Caller, s.run.id, 0)
	if err != nil {
		return nil, nil, err
	}
	history := skippedEntries{Rest: s.skipEvent, open: map[uint64]bool{}}
	for batch, err := range batches {
		if err != nil {
			return nil, nil, err
		}
		for _, e := range batch {
			s.last = e.Seq
			if e.Kind == runlog.KindFinished {
				return nil, &e, nil
			}
			if err := e.Visit(history); err != nil {
				return nil, nil, err
			}
		}
	}
	return slices.Sorted(maps.Keys(history.open)), nil, nil
}

// skippedEntries collects the ordinals of the questions that are open after the entries.
type skippedEntries struct {
	runlog.Rest
	open map[uint64]bool
}

func (v skippedEntries) Asked(e runlog.Entry, _ runlog.Asked) error {
	v.open[e.Seq] = true
	return nil
}

func (v skippedEntries) Answered(_ runlog.Entry, a runlog.Answered) error {
	delete(v.open, a.AskSeq)
	return nil
}

func (v skippedEntries) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error {
	delete(v.open, w.AskSeq)
	return nil
}

// A progressCounter knows the highest progress that a call has sent, on whatever stream.
type progressCounter struct {
	mu    sync.Mutex
	value float64
	// unrecorded reports that progress was sent that the log does not have. Otherwise the
	// log alone determines the value.
	unrecorded bool
}

// record records progress, if any was sent.
func (c *progressCounter) record(value float64, sent, unrecorded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unrecorded = c.unrecorded || unrecorded
	if sent {
		c.value = value
	}
}

// resume makes the progress of a further stream go on after that of an earlier one.
func (c *progressCounter) resume(state *msg.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unrecorded {
		state.Progress.RaiseTo(c.value)
	}
}

// An outlet sends the messages of a call that are not of its run's log, one at a time,
// until it is closed, because the call's reply must be the last message.
type outlet struct {
	sending sync.Mutex // held while a message is sent
	closed  atomic.Bool
}

// send sends those of the messages that are not nil.
func (o *outlet) send(out requests.Sender, messages ...[]byte) error {
	o.sending.Lock()
	defer o.sending.Unlock()
	for _, m := range messages {
		if m == nil || o.closed.Load() {
			continue
		}
		if err := out.Send("", m); err != nil {
			return err
		}
	}
	return nil
}

// close sends nothing from now on.
func (o *outlet) close() { o.closed.Store(true) }

// flush waits until nothing is being sent.
func (o *outlet) flush() {
	o.sending.Lock()
	defer o.sending.Unlock()
}
