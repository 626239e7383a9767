package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/recording"
)

// A call is a tools/call in progress. It sends the events of a run to the client, and
// asks the client the run's questions.
type call struct {
	server        *Server
	session       *session
	client        *client
	requestID     json.RawMessage
	progressToken json.RawMessage // nil if the client gave none
	photon        *generators.Photon
	runID         string
	// request is the method of a request to an upstream that is no call of a tool; empty
	// for calls of tools. The photon is then not registered.
	request     string
	received    json.RawMessage        // the request, until it is recorded with its run
	asked       atomic.Bool            // the run has asked something
	presence    clientsession.Presence // of the client, while a stream of the call is open
	followAfter uint64                 // the call sends the entries after this one
	// retainFor is how long the result of a run that may be a task is kept; see
	// [engine.StartRequest].
	retainFor time.Duration
	// isTask reports whether the run is a task. It outlives this request, and the
	// questions that its client can't be asked may be answered elsewhere.
	isTask bool
	// mayBecomeTask and workFor say when a call that is no task becomes one; see
	// [tasks.Decision].
	mayBecomeTask bool
	workFor       time.Duration
	// isResume reports whether the call resumed the run with [ResumeTool]. Only a call
	// that started its run cancels it when it is itself abandoned. Number distinguishes
	// the calls of one run within a session; it is 0 where there can be only one.
	// Neither changes.
	isResume bool
	number   uint32

	// sendMu is held while a question is sent or withdrawn, so that none is sent after
	// its withdrawal.
	sendMu sync.Mutex

	mu                  sync.Mutex
	sender              messageSender   // the stream of the request, or the stream that resumed it
	pending             pendingRequests // questions that the client was asked and that are open
	waitClock           waitClock
	missingCapabilities []*msg.MissingCapability // that questions needed
	linkedAsks          map[uint64]struct{}      // questions of which the client got only a link
	linkedSince         time.Time                // when they became all that the call waits for; zero if they aren't
	progress            float64                  // the highest value that was sent
	unrecordedProgress  bool                     // progress was sent that the log does not have
	runEnded            bool
	handedOff           bool // the call must no longer cancel its run
	askingStopped       bool // no further question is sent
	shownInChat         bool // its view asks the linked questions, and no more are announced
	linksSent           bool // the client got links to the questions that it does not answer
}

// serveToolCall serves tools/call.
func (s *Server) serveToolCall(rc *requestContext, m msg.Incoming, p *requestParams, answer func(reply)) {
	if s.isBeamTool(p.Name) { // it first reads the logs of runs
		rc.session.runBlocking(func() { s.serveNewCall(rc, m, p, answer) })
		return
	}
	s.serveNewCall(rc, m, p, answer)
}

// serveNewCall begins a call and serves it. It may block for Beam's own tools.
func (s *Server) serveNewCall(rc *requestContext, m msg.Incoming, p *requestParams, answer func(reply)) {
	c, refused := s.newCall(rc, m, p)
	if c != nil {
		c.received = m.Raw
		if c.runID != "" {
			c.recordRequest()
		}
		answer = c.recordReplies(answer)
	}
	if refused != nil {
		answer(*refused)
		return
	}
	if rc.inFlight.Cause() != nil { // before the run was started
		answer(reply{})
		return
	}
	becomesTask, invalid := c.decideTask(p)
	switch {
	case invalid != nil:
		answer(errorReply(m.ID, invalid))
	case becomesTask:
		rc.session.runBlocking(func() { answer(c.createTask(rc.inFlight, p)) })
	case rc.client.IsModern():
		rc.session.runBlocking(func() { c.serveRoundTrip(rc.inFlight, p, answer) })
	default:
		c.serveDirectCall(rc.inFlight, p, answer)
	}
}

// newCall returns a call of the tool that m names, or the reply if the call ends at once,
// as when there is no such tool.
func (s *Server) newCall(rc *requestContext, m msg.Incoming, p *requestParams) (*call, *reply) {
	refuse := func(e *msg.Error) (*call, *reply) {
		r := errorReply(m.ID, e)
		return nil, &r
	}
	if p.Name == "" {
		return refuse(msg.Errorf(mcp.INVALID_PARAMS, "tools/call requires a name; arguments must be an object"))
	}
	c := &call{server: s, session: rc.session, client: rc.client, requestID: m.ID, progressToken: p.Meta.ProgressToken}
	c.sender = c.recorded(rc.sender)
	switch {
	case apps.IsTool(p.Name) && s.isBeamTool(p.Name):
		if rc.usesApps(rc.client) {
			return c, c.serveAppTool(rc.inFlight, p)
		}
	case s.isBeamTool(p.Name):
		return c, c.serveBeamTool(p)
	}
	if photon, ok := s.toolPhoton(p.Name); ok {
		c.photon, _ = s.engine.LookupPhoton(rc.client.caller, photon.Name())
	}
	if c.photon == nil {
		return refuse(msg.Errorf(mcp.INVALID_PARAMS, "unknown tool: %q", p.Name))
	}
	return c, nil
}

// serveDirectCall starts or rejoins the run, and follows it.
func (c *call) serveDirectCall(inFlight *requests.InFlight, p *requestParams, answer func(reply)) {
	if c.isResume {
		c.followDirectCall(inFlight, answer)
		return
	}
	start := func(ctx context.Context) error {
		err := c.startRun(ctx, p)
		switch {
		case errors.Is(err, engine.ErrMustWait):
		case err != nil:
			answer(c.startErrorReply(err))
		default:
			c.followDirectCall(inFlight, answer)
		}
		return err
	}
	if err := start(engine.WithoutWaiting(inFlight.Parent())); errors.Is(err, engine.ErrMustWait) {
		c.session.runBlocking(func() { _ = start(inFlight.Parent()) }) // which has answered
	}
}

func (c *call) followDirectCall(inFlight *requests.InFlight, answer func(reply)) {
	if c.session.resumable && !c.session.addResumableCall(c) { // the session has ended
		c.abandonRun()
		answer(reply{})
		return
	}
	f := c.newFollower(c.sender, inFlight)
	var first step
	if c.isResume {
		first = f.rejoinRun
	}
	f.follow(first, answer)
}

// startRun starts the run, which outlives ctx. The error is that of [engine.Engine.Start].
func (c *call) startRun(ctx context.Context, p *requestParams) error {
	args := p.Arguments
	if bytes.Equal(args, msg.Null) { // some clients send null for no arguments
		args = nil
	}
	request := engine.StartRequest{
		Photon: c.photon.Name(), Args: args, Surface: c.runSurface(), Samples: c.client.SupportsSampling(),
		RetainFor: c.retainFor, Client: c.runClient(), Received: c.client.observe(recording.In, c.received),
	}
	if c.request != "" {
		request.Unlisted = c.photon
	}
	info, err := c.server.engine.Start(context.WithoutCancel(ctx), c.client.caller, request)
	if err != nil {
		return err
	}
	c.received = nil
	c.runID, c.followAfter = info.ID, 1 // the start; the next entry says whether it is queued
	c.sender.SetResumeCursor(c.cursor(0))
	return nil
}

// cancelRun cancels the run, unless it is a task, which outlives its requests.
func (c *call) cancelRun() {
	if c.isTask {
		return
	}
	err := c.server.engine.Cancel(context.Background(), c.client.caller, c.runID, msg.Surface)
	if err != nil && !errors.Is(err, engine.ErrRunNotFound) && !errors.Is(err, engine.ErrForbidden) { // deleted or adopted
		c.server.logger.Error("cancelling a run", "run", c.runID, "err", err)
	}
}

// cancelCall ends a call that its client has cancelled, and withdraws its questions.
func (c *call) cancelCall() {
	c.session.removeResumableCall(c)
	if !c.isResume && !c.wasHandedOff() {
		c.cancelRun()
	}
	c.withdrawRequests("its call was canceled")
}

// stopAsking prevents further questions: the next message is the call's reply.
func (c *call) stopAsking() {
	c.mu.Lock()
	c.runEnded, c.askingStopped = true, true
	c.mu.Unlock()
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
}

// abandonRun cancels a run that nobody will resume because the session has ended. A
// durable run goes on waiting for its answer.
func (c *call) abandonRun() {
	if !c.hasEnded() && !c.photon.Options().Durable && !c.isResume {
		c.cancelRun()
	}
}

// hasEntry reports whether the run's log has an entry with the ordinal seq.
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
