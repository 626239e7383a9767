package calls

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/runlog"
)

// A ticket says of a call what its run doesn't, so that any process that serves its session can
// resume it. The ids of the call's events have it, sealed.
type ticket struct {
	ID     json.RawMessage `json:"i"` // of the request
	Method string          `json:"m"`
	Name   string          `json:"n,omitempty"` // of the tool
	Token  json.RawMessage `json:"p,omitempty"` // of progress
}

func ticketPurpose(sess *session.Session, key string) string { return "event " + sess.ID + " " + key }

// addTicket gives the run of a request's call the call's ticket, if there are others to resume it.
func (s *starter) addTicket(r *session.Request, run *run) {
	if !s.config.Shared || !r.Session.Resumable {
		return
	}
	var err error
	t := ticket{r.ID(), r.Message.Method, r.Params.Name, r.Params.Meta.ProgressToken}
	if run.ticket, err = s.config.Sealer.SealValue(t, ticketPurpose(r.Session, run.key())); err != nil {
		s.config.Logger.Error("sealing the id of an event", "run", run.id, "err", err)
	}
}

// Rejoin returns the call with a key that another process has served, given its ticket, or nil.
func (s *Service) Rejoin(sess *session.Session, key, sealed string) session.Call {
	var t ticket
	id, number, ok := parseKey(key)
	if !ok || s.config.Sealer.OpenValue(sealed, ticketPurpose(sess, key), &t) != nil {
		return nil
	}
	r := newRequest(sess)
	r.Message.ID, r.Message.Method, r.Params.Name, r.Params.Meta.ProgressToken = t.ID, t.Method, t.Name, t.Token
	info, err := s.config.Engine.Info(r.Client.Caller, id)
	if err != nil || info.Owner != r.Client.Caller.ID {
		return nil
	}
	c := s.rejoined(r, info, number)
	if !sess.Calls.Add(c) {
		return nil
	}
	return c
}

func (s *Service) rejoined(r *session.Request, info engine.Info, number uint32) *call {
	if r.Is(tasks.MethodResult) {
		return s.tasks.newTaskCall(r, info, number)
	}
	run := s.starter.newRun(r, s.starter.photonOf(info), info.ID)
	run.number = number
	s.starter.addTicket(r, run)
	switch {
	case !r.Is(mcp.MethodToolsCall):
		return s.starter.newCall(r, run, startedRun{run: run}, upstreamResult(r.Message.Method))
	case number != 0:
		return s.own.newResumedCall(r, run)
	default:
		return s.newPhotonCall(r, run, tasks.Decision{})
	}
}

// parseKey returns the run and number of a call; see run.key.
func parseKey(key string) (run string, number uint32, ok bool) {
	run, text, numbered := strings.Cut(key, "@")
	if !numbered {
		return run, 0, true
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return run, uint32(n), err == nil
}

// newRequest returns a request for what a client does without one.
func newRequest(sess *session.Session) *session.Request {
	return &session.Request{
		Session: sess, Client: sess.Client(), InFlight: requests.NewInFlight(context.Background()), Params: new(requests.Params),
	}
}

// catchUpQuestions brings the call up to date with what another process has asked, up to the entry
// with an ordinal, and with what was settled.
func (c *call) catchUpQuestions(after uint64) error {
	info, err := c.run.info()
	if err != nil {
		return err
	}
	c.questions.forgetSettled(info)
	for _, open := range info.Asks {
		_, seq, _ := runlog.SplitAskID(open.ID)
		if seq > after || c.questions.find(seq) != nil {
			continue
		}
		c.asked.Store(true)
		request, missing, err := c.run.translator().AskRequest(&open.Asked, open.ID)
		if err == nil && missing == nil && !open.Excluded {
			c.questions.expect(seq, &request)
		} else if !c.origin.leaves(open.Question) {
			c.unasked.add(open, seq)
		}
	}
	return nil
}

// HandleResponse handles a response to a request that another process has sent. It records the
// answer to a question. It calls forward, if that isn't nil, with what only that process can handle.
func (s *Service) HandleResponse(sess *session.Session, m msg.Incoming, forward func()) {
	id, askSeq, attempt, ok := parseRequestID(m.ID)
	if !ok {
		if forward != nil {
			forward()
		}
		return
	}
	run, number, _ := parseKey(id)
	for _, other := range sess.Calls.All() {
		c := other.(*call)
		if p := c.questions.find(askSeq); p != nil && c.run.id == run && c.run.number == number && c.questions.isAttempt(p, attempt) {
			responseHandler{questions: &c.questions, pending: p}.HandleResponse(m)
			return
		}
	}
	if forward == nil {
		return
	}
	r := newRequest(sess)
	info, err := s.config.Engine.Info(r.Client.Caller, run)
	if err != nil {
		return
	}
	c := s.starter.newCall(r, s.starter.newRun(r, s.starter.photonOf(info), run), startedRun{}, toolResult)
	responseHandler{questions: &c.questions, pending: &pendingRequest{askSeq: askSeq}, forward: forward}.HandleResponse(m)
}

// parseRequestID returns of the id of a request that asks a question the key of the call, the
// ordinal of the question, and how often it was asked; see questionSender.requestID.
func parseRequestID(raw json.RawMessage) (key string, askSeq uint64, attempt uint32, ok bool) {
	var id string
	if json.Unmarshal(raw, &id) != nil {
		return "", 0, 0, false
	}
	id, attempts, again := strings.Cut(id, "#")
	id, number, numbered := strings.Cut(id, "@")
	run, askSeq, ok := runlog.SplitAskID(id)
	if numbered {
		run += "@" + number
	}
	n := uint64(1)
	if again {
		var err error
		n, err = strconv.ParseUint(attempts, 10, 32)
		ok = ok && err == nil
	}
	return run, askSeq, uint32(n), ok
}

// isAttempt reports whether the nth request for a question is the last one, as far as this process
// knows. If another one has asked more often, that counts here, too.
func (q *questionSender) isAttempt(p *pendingRequest, n uint32) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	asked := p.invalidAnswers + p.changes + q.parks + 1
	if n > asked {
		p.invalidAnswers += n - asked
	}
	return n >= asked
}

// KeepPresent has the process that has started the run of a call know that the client has a stream of
// the call here, until stop is called.
func (s *Service) KeepPresent(sess *session.Session, c session.Call) (stop func()) {
	p := sess.Peers()
	if p == nil || s.config.Policy.Link || c.(*call).presence != nil { // this is the one, or it doesn't matter
		return func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		t := time.NewTicker(clientsession.AbsenceGrace / 3)
		defer t.Stop()
		for ctx.Err() == nil {
			p.NotePresence(sess.ID, c.Key())
			select {
			case <-ctx.Done():
			case <-t.C:
			}
		}
	}()
	return stop
}

// NotePresence notes that the client of a call has a stream of it at another process.
func (s *Service) NotePresence(sess *session.Session, key string) {
	if c, ok := sess.Calls.Find(key).(*call); ok && c.presence != nil {
		c.presence.Enter()
		time.AfterFunc(clientsession.AbsenceGrace/2, c.presence.Leave)
	}
}

// AnnounceTask notifies a session's client of the changes of a task that it has created at another
// process, if this one has the session's stream.
func (s *Service) AnnounceTask(sess *session.Session, id string) {
	if sess.Stream.Current() != nil {
		sess.MarkInitialized()
		s.tasks.watch(sess).AddUnknown(id)
	}
}
