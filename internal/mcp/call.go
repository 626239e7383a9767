package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// surface is what runs and answers are recorded to come from.
const surface = "mcp"

// A call is a tools/call under way: a run whose events are told to the client,
// and its questions put to it.
type call struct {
	server  *Server
	session *session
	client  *client
	id      json.RawMessage // of the request
	token   json.RawMessage // its progress token
	photon  *generators.Photon
	run     string
	begun   uint64 // the last entry that tells its client nothing: of the start, or before it was taken up
	// keep is promised of a run that is to be a task; see [run.Request].
	keep time.Duration
	// task says that the run is a task: it goes on whatever becomes of this
	// request, and what its client can't answer may be answered elsewhere.
	task bool
	// resumed says that the call took a run up again; one that began its run
	// ends it if it is given up. Turn numbers the calls of runs that may have
	// several in a session, and is 0 for others. Neither changes.
	resumed bool
	turn    uint32

	// asking is held while a question is sent or taken back, so that nothing is
	// sent after it was taken back.
	asking sync.Mutex

	mu       sync.Mutex
	out      outlet // the stream of the request, or the one that resumed it
	puts     puts   // questions that the client was asked
	patience patience
	lacks    []*lack             // what the client lacked for questions
	linked   map[uint64]struct{} // questions that it was told the address of, as it can't be asked
	progress float64             // the highest that was told
	over     bool                // the run has ended
	handed   bool                // the call was handed off: its run is not the call's to end
	gone     bool                // nothing is asked any more
	pointed  bool                // the client was told where to answer what it is silent on
}

// callTool serves tools/call.
func (s *Server) callTool(x *exchange, m message, p *params, answer func(reply)) {
	if p.Name == "" {
		answer(fault(m.ID, faultf(mcp.INVALID_PARAMS, "tools/call takes a name and arguments, an object")))
		return
	}
	c := &call{server: s, session: x.session, client: x.client, id: m.ID, token: p.Meta.ProgressToken, out: x.out}
	if s.offersResume(p.Name) {
		if refused := c.takeUp(p.Arguments); refused != nil {
			answer(*refused)
			return
		}
	} else if c.photon, _ = s.photons.Lookup(p.Name); c.photon == nil {
		answer(fault(m.ID, faultf(mcp.INVALID_PARAMS, "unknown tool: %q", p.Name)))
		return
	}
	if x.flight.cancelled() != nil { // before it was begun
		answer(reply{})
		return
	}
	if asTask, refused := c.asTask(p); refused != nil {
		answer(fault(m.ID, refused))
		return
	} else if asTask {
		x.session.apart(func() { answer(c.createTask(x.flight, p)) })
		return
	}
	switch {
	case x.client.modern():
		x.session.apart(func() { answer(c.round(x.flight, p)) })
	case x.session.steps == nil:
		answer(c.hold(p, x.flight))
	case c.resumed:
		x.session.apart(func() { c.park(p, x.flight, answer) })
	default:
		c.park(p, x.flight, answer)
	}
}

// hold starts the run, or takes it up, and follows it on the goroutine of its
// request.
func (c *call) hold(p *params, flight *flight) reply {
	if !c.resumed {
		if refused := c.start(flight.parent, p); refused != nil {
			return *refused
		}
	}
	if !c.session.keep(c) { // it has ended meanwhile
		c.abandon()
		return reply{}
	}
	f := c.follower(c.out, flight)
	if c.resumed {
		if r, over := f.rejoin(flight.context()); over {
			return r
		}
	}
	return f.follow()
}

// resume goes on with a call on another stream, after what the client has had.
func (c *call) resume(out outlet, flight *flight, after uint64) reply {
	c.mu.Lock()
	c.out = out
	c.mu.Unlock()
	f := c.follower(out, flight)
	f.tell.goOn()
	if err := f.catchUp(context.Background(), after); err != nil {
		return c.broken(err)
	}
	c.heard() // it was away, and not silent
	if r, over := f.again(); over {
		return r
	}
	if err := f.askAgain(context.Background()); err != nil {
		return f.failed(err)
	}
	return f.follow()
}

// start starts the run, which outlives ctx; if it
// can't, the reply says why.
func (c *call) start(ctx context.Context, p *params) *reply {
	args := p.Arguments
	if bytes.Equal(args, null) { // as some clients write none
		args = nil
	}
	request := run.Request{Photon: p.Name, Args: args, Surface: c.surface(), Keep: c.keep}
	info, err := c.server.engine.Start(context.WithoutCancel(ctx), c.client.who, request)
	if err != nil {
		refused := c.notStarted(err)
		return &refused
	}
	c.run, c.begun = info.ID, info.Last
	c.out.begin(c.cursor(0))
	return nil
}

// notStarted is the reply for a run that could not be started.
func (c *call) notStarted(err error) reply {
	var invalid *generators.InvalidError
	var why *toolResult
	switch {
	case errors.As(err, &invalid):
		why = invalidArguments(c.photon.Name(), invalid)
	case errors.Is(err, run.ErrTooMany), errors.Is(err, run.ErrClosing):
		why = toolError("The tool was not started: " + err.Error() + ".")
	case errors.Is(err, log.ErrFull):
		why = toolError("The tool was not started: " + log.ErrFull.Error() + ".")
	case run.Passing(err):
		why = toolError("The tool was not started: " + log.ErrUnavailable.Error() + ".")
	default:
		return c.broken(err)
	}
	if c.task && !c.client.modern() { // whose only result is a task
		return fault(c.id, faultf(mcp.INVALID_PARAMS, "%s", *why.Content[0].Text))
	}
	return c.done(why, "")
}

// stop ends the run, unless it is a task, which outlives its requests.
func (c *call) stop() {
	if c.task {
		return
	}
	err := c.server.engine.Cancel(context.Background(), c.client.who, c.run)
	if err != nil && !errors.Is(err, run.ErrNotFound) {
		c.server.logger.Error("stopping a run", "run", c.run, "err", err)
	}
}

// giveUp ends a call that its client does not want any more, and takes its
// questions back.
func (c *call) giveUp() {
	c.session.drop(c)
	if !c.resumed && !c.wasHanded() {
		c.stop()
	}
	c.takeBack("its call was cancelled")
}

// close sees to it that nothing more is asked: the call's reply is next.
func (c *call) close() {
	c.mu.Lock()
	c.over, c.gone = true, true
	c.mu.Unlock()
	c.asking.Lock()
	defer c.asking.Unlock()
}

// abandon ends what nobody will take up again: the session is over. A durable
// run waits for its answer elsewhere.
func (c *call) abandon() {
	if !c.isOver() && !c.photon.Options().Durable && !c.resumed {
		c.stop()
	}
}

// reached tells whether the run's log has an entry of that ordinal.
func (c *call) reached(seq uint64) bool {
	info, err := c.server.engine.Info(c.client.who, c.run)
	return err == nil && seq <= info.Last
}

func (c *call) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over || c.handed
}

func (c *call) wasHanded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handed
}

func (c *call) outlet() outlet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out
}

// cursor is what a client resumes after.
func (c *call) cursor(seq uint64) string { return c.key() + "." + strconv.FormatUint(seq, 10) }

// key names the call in its session: its run, and which of the calls of that it
// is.
func (c *call) key() string { return c.run + c.suffix() }

// suffix tells apart what would be called the same by several calls of a run.
func (c *call) suffix() string {
	if c.turn == 0 {
		return ""
	}
	return "@" + strconv.FormatUint(uint64(c.turn), 10)
}

// modern is the error that MCP 2026-07-28 has for a missing capability.
func (l *lack) modern() *rpcError {
	e := faultf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "%s", l.Error())
	e.Data = map[string]any{"requiredCapabilities": l.required}
	return e
}

// done is a reply with the tool's result.
func (c *call) done(result *toolResult, cursor string) reply {
	e := c.server.envelope(c.client, "complete")
	if said := result.Meta; said != nil {
		maps.Copy(said, e.Meta)
		e.Meta = said
	}
	result.envelope = e
	if c.task && !c.client.modern() {
		result.Meta = relatedTask(c.run)
	}
	return reply{message: response(c.id, result), cursor: cursor}
}

// panicked is the reply for a fault that would have ended the process.
func (c *call) panicked(v any) reply {
	return c.broken(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
}

// broken is the reply for a fault of Beam's own. Its cause is for the log.
func (c *call) broken(err error) reply {
	name := "" // before it is known
	if c.photon != nil {
		name = c.photon.Name()
	}
	c.server.logger.Error("serving a call", "run", c.run, "photon", name, "err", err)
	return fault(c.id, faultf(mcp.INTERNAL_ERROR, "Beam could not serve this call; its log says why"))
}
