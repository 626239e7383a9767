package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// A follower tells a client what follows an ordinal of a run's log. A call has
// one for each stream that it is told on.
type follower struct {
	*call
	out    outlet
	flight *flight  // of the request that the stream belongs to
	after  uint64   // the last entry that the client was told
	made   []uint64 // the ordinals of the artifacts
	tell   teller

	// alarm calls wake when something is due that no entry of the log says; beat
	// is when it is due to tell that the call waits. The call's mu guards them.
	alarm *time.Timer
	wake  func()
	beat  time.Time
}

func (c *call) follower(out outlet, flight *flight) *follower {
	return &follower{call: c, out: out, flight: flight, after: c.begun, tell: teller{call: c}}
}

// catchUp takes in what the client was told before, without telling it again.
func (f *follower) catchUp(ctx context.Context, after uint64) error {
	f.after = after
	batches, err := f.server.engine.Read(ctx, f.client.who, f.run)
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
			if err := f.catch(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// catch takes in an event that the client was told before.
func (f *follower) catch(e log.Entry) error {
	_, err := f.note(e)
	return err
}

// note takes in an event and returns the notification that tells it, if there
// is one.
func (f *follower) note(e log.Entry) ([]byte, error) {
	if e.Kind == "artifact" {
		f.made = append(f.made, e.Seq)
		return nil, nil
	}
	return f.tell.tell(e)
}

// follow tells what comes, until the run ends or the request does.
func (f *follower) follow() reply {
	defer f.rest()
	ctx := f.flight.context()
	for {
		if r, over := f.stretch(ctx); over {
			return r
		}
		if r, over := f.attend(ctx); over {
			return r
		}
	}
}

// stretch tells what comes, until the call is over or something else is due.
func (f *follower) stretch(ctx context.Context) (r reply, over bool) {
	until, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	f.wakeBy(func() { wake(errDue) })
	batches, err := f.server.engine.Follow(until, f.client.who, f.run, f.after)
	if err != nil {
		return f.broken(err), true
	}
	for batch, err := range batches {
		if err != nil && context.Cause(until) == errDue {
			break
		}
		if r, over := f.advance(ctx, batch, err); over {
			return r, true
		}
		f.arrange()
	}
	switch {
	case context.Cause(until) == errDue:
		return reply{}, false
	case ctx.Err() == nil: // the log ended without the run's end: it was deleted
		return f.broken(run.ErrNotFound), true
	}
	return f.leave(context.Cause(ctx)), true
}

// advance tells a batch of entries. It returns the call's reply when it is
// over.
func (f *follower) advance(ctx context.Context, batch []log.Entry, err error) (r reply, over bool) {
	for _, e := range batch {
		if err != nil {
			break
		}
		if cause := f.flight.cancelled(); cause != nil {
			return f.leave(cause), true
		}
		if err = f.take(ctx, e); err == nil && e.Kind == log.KindFinished {
			return f.end(ctx, e), true
		}
		f.after = e.Seq
	}
	switch {
	case err == nil:
		return reply{}, false
	case ctx.Err() != nil:
		return f.leave(context.Cause(ctx)), true
	}
	return f.failed(err), true
}

// leave ends a call whose request has ended before its run.
func (f *follower) leave(cause error) reply {
	switch {
	case errors.Is(cause, errCancelled):
		f.giveUp()
	case errors.Is(cause, errLeft), errors.Is(cause, errGone) && f.session.joined:
		f.abandon()
	}
	return reply{}
}

// take tells one entry.
func (f *follower) take(ctx context.Context, e log.Entry) error {
	switch e.Kind {
	case log.KindAsked:
		return f.put(ctx, e.Seq)
	case log.KindAnswered, log.KindWithdrawn:
		s, err := log.As[settlement](e)
		if err != nil {
			return err
		}
		f.unlink(s.Ask)
		return f.settled(f.out, s, s.why())
	}
	return f.say(e)
}

// A settlement is what of an answer or a withdrawal a client is told.
type settlement struct {
	Ask    uint64 `json:"ask"`
	Answer struct {
		Action ask.Action `json:"action"`
	} `json:"answer"`
	By     string     `json:"by"`
	Reason log.Reason `json:"reason"`
}

func (s *settlement) accepted() bool { return s.Answer.Action == ask.Accept }

func (s settlement) why() string {
	if s.By != "" {
		return "it was answered elsewhere: " + s.By
	}
	return "it was withdrawn: " + string(s.Reason)
}

// say tells an event.
func (f *follower) say(e log.Entry) error {
	said, err := f.note(e)
	if err != nil || said == nil {
		return err
	}
	return f.out.send(f.cursor(e.Seq), said)
}

// end is the reply for a run that has ended.
func (f *follower) end(ctx context.Context, e log.Entry) reply {
	f.close()
	ended, err := log.As[log.Finished](e)
	if err != nil {
		return f.broken(err)
	}
	if f.resumed {
		ended = interrupted(ended)
	}
	if missing := f.lacked(ended); missing != nil && f.client.modern() {
		return fault(f.id, missing.modern())
	}
	result, err := f.result(context.WithoutCancel(ctx), ended)
	if err != nil {
		return f.broken(err)
	}
	return f.done(result, f.cursor(e.Seq))
}

// lacked is what the client lacked, if that is why the run failed.
func (c *call) lacked(end log.Finished) (missing *lack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end.Status != log.Failed {
		return nil
	}
	for _, l := range c.lacks {
		if strings.Contains(end.Error, l.Error()) {
			missing = missing.and(l)
		}
	}
	return missing
}
