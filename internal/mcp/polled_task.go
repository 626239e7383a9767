package mcp

import (
	"context"
	"errors"
	"maps"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// A polledTask is a task of 2025-11-25 whose client polls it. The specification has such a
// client request the task's result when input is required, and asks it on that request's
// stream. A client that polls on instead is asked on the standalone stream.
type polledTask struct {
	askID string // of the first open question when the client polled last
	// asking is what asks the client; nil if nothing does.
	asking *requests.InFlight
	// resultRequests is how many requests for the result are in progress.
	resultRequests int
}

// A standaloneStream is the stream for messages that belong to no request: the only one
// over stdio, and that of GET over HTTP.
type standaloneStream struct {
	ctx    context.Context // ends with the stream
	cancel context.CancelFunc
	sender messageSender
}

// errResultRequested means that the client has requested a task's result, and is asked on
// the stream of that request.
var errResultRequested = errors.New("it is asked on the stream of its task's result")

// maxPolledTasks is the number of polled tasks above which a session forgets those that it
// does not ask about.
const maxPolledTasks = 10_000

// askPolledTask asks the client the open questions of a task if it polls the task and does
// not request the result: if it has seen the first of them before.
func (s *Server) askPolledTask(rc *requestContext, m msg.Incoming) {
	stream := rc.session.currentStandalone()
	if stream == nil || !canBeAsked(rc.client) {
		return
	}
	info, refused := s.tasks.FindRequestedRun(rc.client.caller, m)
	if refused != nil || info.State != engine.Waiting || len(info.Asks) == 0 {
		return
	}
	asking, isDue := rc.session.recordPoll(info, stream)
	if !isDue {
		return
	}
	c := s.newTaskCall(rc.session, rc.client, stream.sender, info)
	f := c.newFollower(stream.sender, asking)
	f.handler = polledTaskCall{directCall{f}}
	go f.follow(nil, func(reply) { rc.session.endPolledAsking(info.ID, asking) }) // nobody has requested the result
}

// canBeAsked reports whether there are questions that the client can be asked.
func canBeAsked(c *client) bool {
	return c.SupportsForms() || c.SupportsURLs() || c.SupportsSampling() || c.SupportsRoots()
}

// A polledTaskCall handles the questions of a polled task. Its reply is sent to nobody.
type polledTaskCall struct{ directCall }

var _ callHandler = polledTaskCall{}

// handleRequestEnd implements [callHandler].
func (c polledTaskCall) handleRequestEnd(cause error) reply {
	if cause != requests.ErrSessionEnded && cause != errClientLeft {
		c.withdrawRequests(cause.Error())
	}
	return reply{}
}

// currentStandalone returns the standalone stream, or nil if there is none.
func (s *session) currentStandalone() *standaloneStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.standalone
}

// recordPoll records that the client has polled a waiting task. It reports whether to ask
// the client now, and returns what ends that.
func (s *session) recordPoll(info engine.Info, stream *standaloneStream) (asking *requests.InFlight, isDue bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return nil, false
	}
	t := s.polledTask(info.ID)
	seen := t.askID == info.Asks[0].ID
	t.askID = info.Asks[0].ID
	if !seen || t.asking != nil || t.resultRequests > 0 {
		return nil, false
	}
	t.asking = requests.NewInFlight(stream.ctx)
	return t.asking, true
}

// polledTask returns the polled task with an id, which it adds if necessary. The caller
// holds mu.
func (s *session) polledTask(id string) *polledTask {
	if t := s.polledTasks[id]; t != nil {
		return t
	}
	if s.polledTasks == nil {
		s.polledTasks = map[string]*polledTask{}
	}
	if len(s.polledTasks) >= maxPolledTasks {
		maps.DeleteFunc(s.polledTasks, func(_ string, t *polledTask) bool { return t.asking == nil && t.resultRequests == 0 })
	}
	t := &polledTask{}
	s.polledTasks[id] = t
	return t
}

// endPolledAsking forgets what asked the client about a task.
func (s *session) endPolledAsking(id string, asking *requests.InFlight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.polledTasks[id]; t != nil && t.asking == asking {
		t.asking = nil
		s.dropPolledTask(id, t)
	}
}

// beginResultRequest records a request for a task's result, on whose stream the client is
// asked from now on. The caller must call the returned function when it ends.
func (s *session) beginResultRequest(id string) (end func()) {
	s.mu.Lock()
	t := s.polledTask(id)
	t.resultRequests++
	asking := t.asking
	s.mu.Unlock()
	if asking != nil {
		asking.Cancel(errResultRequested)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.resultRequests--
		s.dropPolledTask(id, t)
	}
}

// dropPolledTask forgets a polled task unless the client is being asked about it. The
// caller holds mu.
func (s *session) dropPolledTask(id string, t *polledTask) {
	if t.asking == nil && t.resultRequests == 0 && s.polledTasks[id] == t {
		delete(s.polledTasks, id)
	}
}

// takePolledAsking returns what asks the client about its tasks, for the end of the
// session. The caller holds mu.
func (s *session) takePolledAsking() (all []*requests.InFlight) {
	for t := range maps.Values(s.polledTasks) {
		if t.asking != nil {
			all = append(all, t.asking)
		}
	}
	return all
}

// newTaskCall returns a call that asks a client the questions of a task's run, from its
// beginning, and sends no log messages.
func (s *Server) newTaskCall(sess *session, cl *client, sender messageSender, info engine.Info) *call {
	photon, ok := s.photons.Lookup(info.Photon)
	if !ok {
		photon = msg.PlaceholderPhoton(info.Photon)
	}
	quiet := *cl
	quiet.LogLevel = msg.NoLogging
	c := &call{
		server: s, session: sess, client: &quiet, number: s.lastCallNumber.Add(1),
		photon: photon, runID: info.ID, isTask: true,
	}
	c.sender = c.recorded(sender)
	return c
}

// isPoll reports whether a request polls a task of 2025-11-25.
func isPoll(rc *requestContext, m msg.Incoming) bool {
	return m.Method == tasks.MethodGet && rc.client.Version == version20251125
}
