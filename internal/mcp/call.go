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
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// surfaceMCP is what runs and answers are recorded to come from.
const surfaceMCP = "mcp"

// A call is a tools/call under way: a run whose events are told to the client,
// and its questions put to it.
type call struct {
	server        *Server
	session       *session
	client        *client
	requestID     json.RawMessage // of the request
	progressToken json.RawMessage // its progress token
	photon        *generators.Photon
	runID         string
	followAfter   uint64 // the last entry that tells its client nothing: of the start, or before it was taken up
	// keepFor is promised of a run that is to be a task; see [run.StartRequest].
	keepFor time.Duration
	// isTask says that the run is a task: it goes on whatever becomes of this
	// request, and what its client can't answer may be answered elsewhere.
	isTask bool
	// isResume says that the call took a run up again; one that began its run
	// ends it if it is given up. Turn numbers the calls of runs that may have
	// several in a session, and is 0 for others. Neither changes.
	isResume bool
	number   uint32

	// sendMu is held while a question is sent or taken back, so that nothing is
	// sent after it was taken back.
	sendMu sync.Mutex

	mu                 sync.Mutex
	sender             messageSender   // the stream of the request, or the one that resumed it
	pending            pendingRequests // questions that the client was asked
	waitClock          waitClock
	lacks              []*missingCapability // what the client lacked for questions
	linked             map[uint64]struct{}  // questions that it was told the address of, as it can't be asked
	progress           float64              // the last that was sent
	unrecordedProgress bool                 // progress was sent that the log does not have
	runEnded           bool                 // the run has ended
	handedOff          bool                 // the call was handed off: its run is not the call's to end
	askingStopped      bool                 // nothing is asked any more
	linksSent          bool                 // the client was told where to answer what it is silent on
}

// serveToolCall serves tools/call.
func (s *Server) serveToolCall(rc *requestContext, m message, p *requestParams, answer func(reply)) {
	if p.Name == "" {
		answer(errorReply(m.ID, rpcErrorf(mcp.INVALID_PARAMS, "tools/call takes a name and arguments, an object")))
		return
	}
	c := &call{server: s, session: rc.session, client: rc.client, requestID: m.ID, progressToken: p.Meta.ProgressToken, sender: rc.sender}
	if s.isResumeTool(p.Name) {
		if refused := c.openResumedRun(p.Arguments); refused != nil {
			answer(*refused)
			return
		}
	} else if c.photon, _ = s.photons.Lookup(p.Name); c.photon == nil {
		answer(errorReply(m.ID, rpcErrorf(mcp.INVALID_PARAMS, "unknown tool: %q", p.Name)))
		return
	}
	if rc.inFlight.cancelCause() != nil { // before it was begun
		answer(reply{})
		return
	}
	if asTask, refused := c.decideTask(p); refused != nil {
		answer(errorReply(m.ID, refused))
		return
	} else if asTask {
		rc.session.apart(func() { answer(c.createTask(rc.inFlight, p)) })
		return
	}
	switch {
	case rc.client.IsModern():
		rc.session.apart(func() { answer(c.serveRoundTrip(rc.inFlight, p)) })
	case rc.session.steps == nil:
		answer(c.serveSync(p, rc.inFlight))
	case c.isResume:
		rc.session.apart(func() { c.serveAsync(p, rc.inFlight, answer) })
	default:
		c.serveAsync(p, rc.inFlight, answer)
	}
}

// serveSync starts the run, or takes it up, and follows it on the goroutine of its
// request.
func (c *call) serveSync(p *requestParams, inFlight *inFlightRequest) reply {
	if !c.isResume {
		if refused := c.startRun(inFlight.parentContext, p); refused != nil {
			return *refused
		}
	}
	if !c.session.addResumableCall(c) { // it has ended meanwhile
		c.abandonRun()
		return reply{}
	}
	f := c.newFollower(c.sender, inFlight)
	if c.isResume {
		if r, over := f.rejoinRun(inFlight.newContext()); over {
			return r
		}
	}
	return f.followRun()
}

// resumeOnStream goes on with a call on another stream, after what the client has had.
func (c *call) resumeOnStream(out messageSender, inFlight *inFlightRequest, after uint64) reply {
	c.mu.Lock()
	c.sender = out
	c.mu.Unlock()
	f := c.newFollower(out, inFlight)
	if err := f.catchUp(context.Background(), after); err != nil {
		return c.internalErrorReply(err)
	}
	f.resumeProgress()
	c.restartWaitClock() // it was away, and not silent
	if r, over := f.repeatHandoff(); over {
		return r
	}
	if err := f.resendInvalidlyAnswered(context.Background()); err != nil {
		return f.failureReply(err)
	}
	return f.followRun()
}

// startRun starts the run, which outlives ctx; if it
// can't, the reply says why.
func (c *call) startRun(ctx context.Context, p *requestParams) *reply {
	args := p.Arguments
	if bytes.Equal(args, jsonNull) { // as some clients write none
		args = nil
	}
	request := engine.StartRequest{Photon: p.Name, Args: args, Surface: c.runSurface(), RetainFor: c.keepFor}
	info, err := c.server.engine.Start(context.WithoutCancel(ctx), c.client.caller, request)
	if err != nil {
		refused := c.startErrorReply(err)
		return &refused
	}
	c.runID, c.followAfter = info.ID, info.LastSeq
	c.sender.setResumeCursor(c.cursor(0))
	return nil
}

// startErrorReply is the reply for a run that could not be started.
func (c *call) startErrorReply(err error) reply {
	var invalid *generators.InvalidError
	var why *toolResult
	switch {
	case errors.As(err, &invalid):
		why = msg.InvalidArgumentsResult(c.photon.Name(), invalid)
	case errors.Is(err, engine.ErrTooManyRuns), errors.Is(err, engine.ErrClosing):
		why = errorResult("The tool was not started: " + err.Error() + ".")
	case errors.Is(err, runlog.ErrDiskFull):
		why = errorResult("The tool was not started: " + runlog.ErrDiskFull.Error() + ".")
	case engine.IsTransient(err):
		why = errorResult("The tool was not started: " + runlog.ErrUnavailable.Error() + ".")
	default:
		return c.internalErrorReply(err)
	}
	if c.isTask && !c.client.IsModern() { // whose only result is a task
		return errorReply(c.requestID, rpcErrorf(mcp.INVALID_PARAMS, "%s", *why.Content[0].Text))
	}
	return c.resultReply(why, "")
}

// cancelRun ends the run, unless it is a task, which outlives its requests.
func (c *call) cancelRun() {
	if c.isTask {
		return
	}
	err := c.server.engine.Cancel(context.Background(), c.client.caller, c.runID)
	if err != nil && !errors.Is(err, engine.ErrRunNotFound) {
		c.server.logger.Error("stopping a run", "run", c.runID, "err", err)
	}
}

// cancelCall ends a call that its client does not want any more, and takes its
// questions back.
func (c *call) cancelCall() {
	c.session.removeResumableCall(c)
	if !c.isResume && !c.wasHandedOff() {
		c.cancelRun()
	}
	c.withdrawRequests("its call was cancelled")
}

// stopAsking sees to it that nothing more is asked: the call's reply is next.
func (c *call) stopAsking() {
	c.mu.Lock()
	c.runEnded, c.askingStopped = true, true
	c.mu.Unlock()
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
}

// abandonRun ends what nobody will take up again: the session is over. A durable
// run waits for its answer elsewhere.
func (c *call) abandonRun() {
	if !c.hasEnded() && !c.photon.Options().Durable && !c.isResume {
		c.cancelRun()
	}
}

// hasEntry tells whether the run's log has an entry of that ordinal.
func (c *call) hasEntry(seq uint64) bool {
	info, err := c.server.engine.Info(c.client.caller, c.runID)
	return err == nil && seq <= info.LastSeq
}

func (c *call) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runEnded || c.handedOff
}

func (c *call) wasHandedOff() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handedOff
}

func (c *call) currentSender() messageSender {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sender
}

// cursor is what a client resumes after.
func (c *call) cursor(seq uint64) string { return c.key() + "." + strconv.FormatUint(seq, 10) }

// key names the call in its session: its run, and which of the calls of that it
// is.
func (c *call) key() string { return c.runID + c.numberSuffix() }

// numberSuffix tells apart what would be called the same by several calls of a run.
func (c *call) numberSuffix() string {
	if c.number == 0 {
		return ""
	}
	return "@" + strconv.FormatUint(uint64(c.number), 10)
}

// resultReply is a reply with the tool's result.
func (c *call) resultReply(result *toolResult, cursor string) reply {
	e := c.server.newResultBase(c.client, "complete")
	if said := result.Meta; said != nil {
		maps.Copy(said, e.Meta)
		e.Meta = said
	}
	result.ResultBase = e
	if c.isTask && !c.client.IsModern() {
		result.Meta = relatedTaskMeta(c.runID)
	}
	return reply{message: encodeResult(c.requestID, result), cursor: cursor}
}

// panicReply is the reply for a fault that would have ended the process.
func (c *call) panicReply(v any) reply {
	return c.internalErrorReply(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
}

// internalErrorReply is the reply for a fault of Beam's own. Its cause is for the log.
func (c *call) internalErrorReply(err error) reply {
	name := "" // before it is known
	if c.photon != nil {
		name = c.photon.Name()
	}
	c.server.logger.Error("serving a call", "run", c.runID, "photon", name, "err", err)
	return errorReply(c.requestID, rpcErrorf(mcp.INTERNAL_ERROR, "Beam could not serve this call; its log says why"))
}
