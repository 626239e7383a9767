package calls

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/runsource"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
)

// A run is the run of a call, as the call's client sees it. It is immutable.
type run struct {
	engine *engine.Engine
	client *requests.Client
	photon *generators.Photon
	id     string
	// number distinguishes the calls of one run within a session; it is 0 where there can
	// be only one.
	number        uint32
	ticket        string          // see ticket; empty if nobody else can resume the call
	progressToken json.RawMessage // nil if the client gave none
	pages         func() (string, error)
	mapUI         func(uri string) string
	logger        *slog.Logger
}

// key identifies the call in its session.
func (r *run) key() string { return r.id + r.numberSuffix() }

// cursor returns the event id that a client resumes after.
func (r *run) cursor(seq uint64) string {
	c := r.key() + "." + strconv.FormatUint(seq, 10)
	if r.ticket != "" {
		c += ticketMark + r.ticket
	}
	return c
}

// ticketMark is before the ticket in an event id.
const ticketMark = "~"

// ParseCursor returns the key of a call and the ordinal of an entry, given the event id that
// a client resumes after; and the ticket of the call, if it has one.
func ParseCursor(cursor string) (key string, seq uint64, ticket string, ok bool) {
	cursor, ticket, _ = strings.Cut(cursor, ticketMark)
	if key, ok := strings.CutSuffix(cursor, ".0"); ok && key != "" { // which no ask id ends in
		return key, 0, ticket, true
	}
	key, seq, ok = runlog.SplitAskID(cursor) // cursors and ask ids have the same form
	return key, seq, ticket, ok
}

// requestID returns the id of the request that asks a question. No id is used twice in a
// session.
func (r *run) requestID(seq uint64) string { return r.askID(seq) + r.numberSuffix() }

func (r *run) askID(seq uint64) string { return runlog.AskID(r.id, seq) }

// numberSuffix makes keys and ids unique among the calls of one run.
func (r *run) numberSuffix() string {
	if r.number == 0 {
		return ""
	}
	return "@" + strconv.FormatUint(uint64(r.number), 10)
}

// info returns the run's state.
func (r *run) info() (engine.Info, error) { return r.engine.Info(r.client.Caller, r.id) }

// waitingInfo returns the run's state, and whether it waits for anything but its photon: if
// not, the log's next entry says so.
func (r *run) waitingInfo() (info engine.Info, waits bool) {
	info, err := r.info()
	return info, err == nil && (len(info.Asks) > 0 || info.Pause() != "")
}

// pause says why the run does nothing now although no question is open: it sleeps, or
// waits for another run. It is empty otherwise.
func (r *run) pause() string {
	info, err := r.info()
	if err != nil {
		return "" // as the next step finds out
	}
	return info.Pause()
}

// openAsk returns an open question. It reports false if the question is settled.
func (r *run) openAsk(ctx context.Context, seq uint64) (open engine.OpenAsk, isOpen bool, err error) {
	open, err = r.engine.OpenAsk(ctx, r.client.Caller, r.askID(seq))
	if errors.Is(err, engine.ErrSettled) || errors.Is(err, engine.ErrAskNotFound) {
		return open, false, nil
	}
	return open, err == nil, err
}

// withdraw withdraws a question, unless others are to answer it. It is not an error if the
// question was settled meanwhile.
func (r *run) withdraw(ctx context.Context, askID string, reason runlog.WithdrawReason, text string) error {
	if open, err := r.engine.OpenAsk(ctx, r.client.Caller, askID); err == nil && open.Excluded {
		return nil
	}
	err := r.engine.Withdraw(ctx, r.client.Caller, askID, reason, text)
	if errors.Is(err, engine.ErrSettled) {
		return nil
	}
	return err
}

// recordAnswer is [tasks.RecordAnswer] for the run's client.
func (r *run) recordAnswer(ctx context.Context, open engine.OpenAsk, result json.RawMessage) (consented bool, err error) {
	return tasks.RecordAnswer(ctx, r.engine, r.client.Caller, &r.client.Client, open, result)
}

// cancel cancels the run.
func (r *run) cancel() {
	err := r.engine.Cancel(context.Background(), r.client.Caller, r.id, msg.Surface)
	if err != nil && !errors.Is(err, engine.ErrRunNotFound) && !errors.Is(err, engine.ErrForbidden) { // deleted or adopted
		r.logger.Error("cancelling a run", "run", r.id, "err", err)
	}
}

// keepResult keeps the run's result for the client that has the handle.
func (r *run) keepResult() {
	if err := r.engine.RetainAfterEnd(r.client.Caller, r.id, engine.MaxRetention); err != nil {
		r.logger.Error("retaining a run", "run", r.id, "err", err)
	}
}

// translator returns the translator of the run for its client. It is made when it is
// needed: a call that waits has to be small.
func (r *run) translator() *msg.Translator {
	return &msg.Translator{
		Client: &r.client.Client, Photon: r.photon, RunID: r.id, ProgressToken: r.progressToken, MapUI: r.mapUI,
		Source: runsource.Source{Engine: r.engine, Caller: r.client.Caller, RunID: r.id, Pages: r.pages},
	}
}

// recordReceived records a message of the client with the run.
func (r *run) recordReceived(raw []byte) { r.record(recording.In, raw) }

// record records a message of the call with its run. What Beam sends is recorded before it
// is sent, so that it precedes what the client responds.
func (r *run) record(way recording.Direction, raw []byte) {
	if raw != nil {
		r.engine.RecordMessage(r.id, r.client.Observe(way, raw))
	}
}

// recordReply records a reply.
func (r *run) recordReply(reply requests.Reply) {
	if reply.Message != nil {
		r.engine.RecordMessage(r.id, reply.Observe(r.client))
	}
}

// recordReplies returns an answer that also records the reply.
func (r *run) recordReplies(answer func(requests.Reply)) func(requests.Reply) {
	return func(reply requests.Reply) {
		r.recordReply(reply)
		answer(reply)
	}
}

// recorded returns a sender that records what it sends.
func (r *run) recorded(out requests.Sender) requests.Sender { return recordedSender{out, r} }

// A recordedSender records what it sends for a run.
type recordedSender struct {
	out requests.Sender
	run *run
}

var _ requests.Sender = recordedSender{}

// Send implements [requests.Sender].
func (s recordedSender) Send(cursor string, message []byte) error {
	s.run.record(recording.Out, message)
	return s.out.Send(cursor, message)
}

// SetResumeCursor implements [requests.Sender].
func (s recordedSender) SetResumeCursor(cursor string) { s.out.SetResumeCursor(cursor) }
