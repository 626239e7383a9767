package calls

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/runlog"
)

// A questionSender asks a client the questions of a call with requests of this server
// (2025-06-18 and 2025-11-25), and records what it responds. Its methods may be called
// concurrently.
type questionSender struct {
	run     *run
	session *session.Session
	outlet  *outlet
	clock   *waitClock // restarted by every response: a client that sends any is not silent
	origin  origin
	policy  AskPolicy

	mu        sync.Mutex      // guards the following fields
	sender    requests.Sender // the stream of the request, or the stream that resumed it
	pending   []*pendingRequest
	parks     uint32 // how often all of them were taken back, because the run was parked
	linksSent bool   // the client got links to the questions that it does not answer
}

// A pendingRequest is a question that the client was asked and that is open. It is small,
// because thousands may wait. The sender's mu guards it.
type pendingRequest struct {
	askSeq          uint64
	acceptIsConsent bool                     // see [msg.Request]
	invalidAnswers  uint32                   // number of answers that were not valid
	changes         uint32                   // how often the request to a model was changed meanwhile
	version         uint64                   // of the request to a model that was sent last; see versionOf
	lastInvalid     *generators.InvalidError // error of the last such answer; nil if there was none
}

// requestID returns the id of a question's current request. Each time a question is asked
// again, the request has another id. The caller holds mu.
func (q *questionSender) requestID(p *pendingRequest) string {
	id := q.run.requestID(p.askSeq)
	if n := p.invalidAnswers + p.changes + q.parks; n > 0 {
		id = fmt.Sprintf("%s#%d", id, n+1)
	}
	return id
}

// notePark gives the requests other ids that ask the questions again when the run goes on.
func (q *questionSender) notePark() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parks++
}

// find returns the request for the question with the ordinal seq, or nil.
func (q *questionSender) find(seq uint64) *pendingRequest {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.locate(seq)
}

// locate is find for callers that hold mu.
func (q *questionSender) locate(seq uint64) *pendingRequest {
	if i := slices.IndexFunc(q.pending, func(p *pendingRequest) bool { return p.askSeq == seq }); i >= 0 {
		return q.pending[i]
	}
	return nil
}

// isAsking reports whether the client was asked a question that is open.
func (q *questionSender) isAsking() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending) > 0
}

// isSilent reports whether the client was asked questions, and got no links to them since
// it responded last.
func (q *questionSender) isSilent() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.linksSent && len(q.pending) > 0
}

// takeUnanswered returns the ordinals of the questions that the client is now sent links
// to: not those whose page it was asked to open.
func (q *questionSender) takeUnanswered() (seqs []uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.linksSent = true
	for _, p := range q.pending {
		if !p.acceptIsConsent {
			seqs = append(seqs, p.askSeq)
		}
	}
	slices.Sort(seqs)
	return seqs
}

// invalidlyAnswered returns the ordinals of the questions up to last that the client
// answered invalidly.
func (q *questionSender) invalidlyAnswered(last uint64) (seqs []uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range q.pending {
		if p.invalidAnswers > 0 && p.askSeq <= last {
			seqs = append(seqs, p.askSeq)
		}
	}
	slices.Sort(seqs)
	return seqs
}

// continueOn sends what is asked again on another stream.
func (q *questionSender) continueOn(out requests.Sender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sender = out
}

// ask sends the request that asks a question.
func (q *questionSender) ask(out requests.Sender, seq uint64, r *msg.Request) error {
	p := &pendingRequest{askSeq: seq, acceptIsConsent: r.AcceptIsConsent}
	q.mu.Lock()
	if !q.outlet.closed.Load() {
		q.pending = append(q.pending, p)
	}
	q.mu.Unlock()
	return q.send(out, p, *r)
}

// send sends a question's request, unless the question was settled meanwhile.
func (q *questionSender) send(out requests.Sender, p *pendingRequest, r msg.Request) error {
	q.outlet.sending.Lock()
	defer q.outlet.sending.Unlock()
	q.mu.Lock()
	id, open := q.requestID(p), !q.outlet.closed.Load() && q.locate(p.askSeq) == p
	if open {
		p.version = versionOf(r)
	}
	q.mu.Unlock()
	if !open {
		return nil
	}
	return q.session.SendRequest(out, q.run.cursor(p.askSeq), id, r.Method, q.relatedParams(r.Params), responseHandler{questions: q, pending: p})
}

// relatedParams adds the related _meta members to a request's params.
func (q *questionSender) relatedParams(params any) any {
	related := q.origin.related()
	if related == nil {
		return params
	}
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // they could not be sent either
	}
	return msg.WithMembers(raw, related, "_meta")
}

// resend sends a question's request again, with the errors of the last answer.
func (q *questionSender) resend(out requests.Sender, p *pendingRequest, asked *runlog.Asked) error {
	request, missing, err := q.run.translator().AskRequest(asked, q.run.askID(p.askSeq))
	if err != nil || missing != nil {
		return err
	}
	q.mu.Lock()
	if p.lastInvalid != nil {
		request = request.WithErrors(p.lastInvalid.Fields)
	}
	q.mu.Unlock()
	return q.send(out, p, request)
}

// versionOf returns what distinguishes the versions of a request to a model, 0 for another.
func versionOf(r msg.Request) uint64 {
	if r.Method != string(mcp.MethodSamplingCreateMessage) {
		return 0
	}
	raw, err := json.Marshal(r.Params)
	if err != nil {
		return 0 // then it can't be sent
	}
	sum := sha256.Sum256(raw)
	return binary.LittleEndian.Uint64(sum[:])
}

// sendNewVersion cancels the request for a reply of a model and sends the version that a person
// has just approved, unless that is the one that was sent last, for a client that may still be
// asking its user about the one before.
func (q *questionSender) sendNewVersion(out requests.Sender, p *pendingRequest, open engine.OpenAsk) error {
	request, missing, err := q.run.translator().AskRequest(&open.Asked, open.ID)
	if err != nil {
		return err
	}
	isNew, err := q.cancelOtherVersion(out, p, versionOf(request))
	if !isNew || err != nil || missing != nil {
		return err
	}
	return q.send(out, p, request)
}

// cancelOtherVersion cancels a request for a reply of a model, unless the version is the one that
// was sent, and reports whether it isn't.
func (q *questionSender) cancelOtherVersion(out requests.Sender, p *pendingRequest, version uint64) (isNew bool, err error) {
	q.outlet.sending.Lock()
	defer q.outlet.sending.Unlock()
	q.mu.Lock()
	id := q.requestID(p)
	if isNew = p.version != version; isNew {
		p.changes++
	}
	q.mu.Unlock()
	if isNew && q.session.Requests.Forget(id) {
		err = out.Send("", msg.EncodeCancelled(id, "a person has changed and approved the request"))
	}
	return isNew, err
}

// settle removes the request of a question that was settled. If the client still shows the
// question, it receives a cancellation with the reason; if it opened Beam's page, a
// notification that the elicitation is complete.
func (q *questionSender) settle(out requests.Sender, s msg.Settlement, reason string) error {
	q.outlet.sending.Lock()
	defer q.outlet.sending.Unlock()
	q.mu.Lock()
	p, id := q.locate(s.AskSeq), ""
	if p != nil {
		q.pending = slices.DeleteFunc(q.pending, func(other *pendingRequest) bool { return other == p })
		id = q.requestID(p)
	}
	if len(q.pending) == 0 {
		q.linksSent = false
	}
	q.mu.Unlock()
	if p == nil {
		return nil
	}
	open := q.session.Requests.Forget(id)
	var err error
	if p.acceptIsConsent && s.IsAccepted() {
		err = out.Send("", msg.EncodeNotification("notifications/elicitation/complete", map[string]any{"elicitationId": q.run.askID(s.AskSeq)}))
	}
	// With peers, the client itself may have responded at another one.
	answeredHere := s.Surface == msg.Surface && q.session.Peers() != nil
	if open && !answeredHere && err == nil {
		err = out.Send("", msg.EncodeNotification("notifications/cancelled", map[string]any{"requestId": id, "reason": reason}))
	}
	return err
}

// withdraw withdraws the open requests, and asks nothing more.
func (q *questionSender) withdraw(reason string) {
	q.outlet.close()
	q.mu.Lock()
	open, out := slices.Clone(q.pending), q.sender
	q.mu.Unlock()
	for _, p := range open {
		_ = q.settle(out, msg.Settlement{AskSeq: p.askSeq}, reason) // the client may be gone
	}
	q.outlet.flush()
}

// expect notes that the client was asked a question, and may respond.
func (q *questionSender) expect(seq uint64, r *msg.Request) {
	p := &pendingRequest{askSeq: seq, acceptIsConsent: r.AcceptIsConsent, version: versionOf(*r)}
	q.mu.Lock()
	q.pending = append(q.pending, p)
	id := q.requestID(p)
	q.mu.Unlock()
	q.session.Requests.Await(id, responseHandler{questions: q, pending: p})
}

// forgetSettled removes the requests of questions that are settled, for a call without a
// stream on which it could learn of that.
func (q *questionSender) forgetSettled(info engine.Info) {
	open := map[uint64]bool{}
	for _, a := range info.Asks {
		_, seq, _ := runlog.SplitAskID(a.ID)
		open[seq] = true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = slices.DeleteFunc(q.pending, func(p *pendingRequest) bool {
		settled := !open[p.askSeq] && p.askSeq <= info.LastSeq
		if settled {
			q.session.Requests.Forget(q.requestID(p))
		}
		return settled
	})
}
