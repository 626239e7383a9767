package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
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
	begun   uint64 // the last entry of the start, which tells a client nothing

	mu   sync.Mutex
	out  outlet          // the stream of the request, or the one that resumed it
	puts map[uint64]*put // questions that the client was asked, by ordinal
	lack *lack           // what the client lacked for a question, if anything
	over bool            // the run has ended
}

// callTool serves tools/call.
func (s *Server) callTool(x *exchange, m message, p *params, answer func(reply)) {
	if p.Name == "" {
		answer(fault(m.ID, faultf(mcp.INVALID_PARAMS, "tools/call takes a name and arguments, an object")))
		return
	}
	photon, ok := s.photons.Lookup(p.Name)
	if !ok {
		answer(fault(m.ID, faultf(mcp.INVALID_PARAMS, "unknown tool: %q", p.Name)))
		return
	}
	c := &call{server: s, session: x.session, client: x.client, id: m.ID, token: p.Meta.ProgressToken, photon: photon, out: x.out}
	if x.client.modern() {
		answer(c.round(x.flight.context(), p))
		return
	}
	if refused := c.start(p); refused != nil {
		answer(*refused)
		return
	}
	if x.session.crew != nil {
		c.follower().park(x.flight, answer)
		return
	}
	x.session.keep(c)
	answer(c.follower().follow(x.flight.context()))
}

// resume goes on with a call on another stream, after what the client has had.
func (c *call) resume(ctx context.Context, out outlet, after uint64) reply {
	c.mu.Lock()
	c.out = out
	c.mu.Unlock()
	f := c.follower()
	if err := f.catchUp(ctx, after); err != nil {
		return c.broken(err)
	}
	return f.follow(ctx)
}

// start starts the run. If it can't, the reply says why.
func (c *call) start(p *params) *reply {
	args := p.Arguments
	if bytes.Equal(args, null) { // as some clients write none
		args = nil
	}
	info, err := c.server.engine.Start(context.Background(), c.client.who,
		run.Request{Photon: p.Name, Args: args, Surface: surface})
	if err == nil {
		c.run, c.begun = info.ID, info.Last
		c.out.begin(c.cursor(0))
		return nil
	}
	var invalid *generators.InvalidError
	var refused reply
	switch {
	case errors.As(err, &invalid):
		refused = c.done(invalidArguments(p.Name, invalid), "")
	case errors.Is(err, run.ErrTooMany), errors.Is(err, run.ErrClosing):
		refused = c.done(toolError("The tool was not started: "+err.Error()+"."), "")
	default:
		refused = c.broken(err)
	}
	return &refused
}

// stop ends the run.
func (c *call) stop() {
	if err := c.server.engine.Cancel(context.Background(), c.client.who, c.run); err != nil {
		c.server.logger.Error("stopping a run", "run", c.run, "err", err)
	}
}

// giveUp ends a call that its client does not want any more, and takes its
// questions back.
func (c *call) giveUp() {
	c.session.drop(c)
	c.stop()
	c.mu.Lock()
	open := slices.Sorted(maps.Keys(c.puts))
	c.mu.Unlock()
	for _, seq := range open {
		_ = c.settled(seq, "its call was cancelled") // a client that is gone need not know
	}
}

// abandon ends what nobody will take up again: the session is over. A durable
// run waits for its answer elsewhere.
func (c *call) abandon() {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if !over && !c.photon.Options().Durable {
		c.stop()
	}
}

func (c *call) outlet() outlet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out
}

// cursor is what a client resumes after.
func (c *call) cursor(seq uint64) string { return c.run + "." + strconv.FormatUint(seq, 10) }

// modern is the error that MCP 2026-07-28 has for a missing capability.
func (l *lack) modern() *rpcError {
	e := faultf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "%s", l.Error())
	e.Data = map[string]any{"requiredCapabilities": l.required}
	return e
}

// done is a reply with the tool's result.
func (c *call) done(result *toolResult, cursor string) reply {
	result.envelope = c.server.envelope(c.client, "complete")
	return reply{message: response(c.id, result), cursor: cursor}
}

// broken is the reply for a fault of Beam's own. Its cause is for the log.
func (c *call) broken(err error) reply {
	c.server.logger.Error("serving a call", "run", c.run, "photon", c.photon.Name(), "err", err)
	return fault(c.id, faultf(mcp.INTERNAL_ERROR, "Beam could not serve this call; its log says why"))
}
