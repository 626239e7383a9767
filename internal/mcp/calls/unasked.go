package calls

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// unaskedQuestions are those that the client of a call can't be asked. They stay open, so
// that somebody answers them elsewhere, or are withdrawn. Its methods may be called
// concurrently.
type unaskedQuestions struct {
	run     *run
	origin  origin
	policy  AskPolicy
	handoff handoff // of the call

	mu          sync.Mutex // guards the following fields
	open        map[uint64]struct{}
	parked      []uint64  // that can't be answered now
	since       time.Time // when they became all that the call waits for; zero if they aren't
	shownInChat bool      // the view asks them, and no more are announced
	missing     []*msg.MissingCapability
}

// requestFor returns the request that asks the client an open question, or nil if the
// client can't be asked. The question is then left open or withdrawn.
func (u *unaskedQuestions) requestFor(ctx context.Context, s *stream, open engine.OpenAsk, seq uint64) (*msg.Request, error) {
	if open.Excluded {
		return nil, u.leaveToOthers(s, open, seq)
	}
	request, missing, err := u.run.translator().AskRequest(&open.Asked, open.ID)
	switch {
	case err != nil:
		return nil, u.withdraw(ctx, open.ID, nil, err)
	case missing != nil && u.origin.leaves(open.Question):
		return nil, nil
	case missing != nil:
		return nil, u.leaveOpen(ctx, s, open, seq, missing)
	}
	return &request, nil
}

// leaveOpen leaves a question open that the client can't be asked, and sends the client
// the address of its page, unless the call's view asks it. Without [AskPolicy.Link] it
// withdraws the question.
func (u *unaskedQuestions) leaveOpen(ctx context.Context, s *stream, open engine.OpenAsk, seq uint64, missing *msg.MissingCapability) error {
	if !u.policy.Link {
		return u.withdraw(ctx, open.ID, missing, nil)
	}
	if _, err := u.run.translator().AskPageURL(open.ID); err != nil && !u.handoff.showsQuestions() {
		return u.withdraw(ctx, open.ID, missing, err)
	}
	u.add(open, seq)
	if u.handoff.showsQuestions() {
		return nil
	}
	return sendAskLink(s, open)
}

// leaveToOthers leaves a question open that the client's user may not answer, and tells the
// client who may.
func (u *unaskedQuestions) leaveToOthers(s *stream, open engine.OpenAsk, seq uint64) error {
	if open.Parked != nil {
		u.mu.Lock()
		u.parked = append(u.parked, seq)
		u.mu.Unlock()
	}
	if u.origin.leaves(open.Question) {
		return nil
	}
	u.add(open, seq)
	return s.sendNotice(open.WaitsFor() + ": " + msg.LineSaidBy(open.Question, open.Photon))
}

// sendAskLink sends the address of a question's page, if there is one.
func sendAskLink(s *stream, open engine.OpenAsk) error {
	address, err := s.run.translator().AskPageURL(open.ID)
	if err != nil {
		s.run.logger.Error("sending the link to a question", "ask", open.ID, "err", err)
		return nil
	}
	return s.sendNotice(fmt.Sprintf("Answer at %s: %s", address, msg.LineSaidBy(open.Question, open.Photon)))
}

// withdraw withdraws a question, and records the missing capability if err is nil.
func (u *unaskedQuestions) withdraw(ctx context.Context, askID string, missing *msg.MissingCapability, err error) error {
	if err == nil {
		u.mu.Lock()
		u.missing, err = append(u.missing, missing), missing
		u.mu.Unlock()
	}
	return u.run.withdraw(ctx, askID, runlog.Unsupported, err.Error())
}

// missingIn returns the missing capabilities that made the run fail, or nil.
func (u *unaskedQuestions) missingIn(end runlog.Finished) (missing *msg.MissingCapability) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range u.missing {
		if m.HasEnded(&end) {
			missing = missing.Merge(m)
		}
	}
	return missing
}

func (u *unaskedQuestions) add(open engine.OpenAsk, seq uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open == nil {
		u.open = map[uint64]struct{}{}
	}
	u.open[seq] = struct{}{}
	u.shownInChat = u.handoff.showsQuestions() && !open.More
}

// forget forgets a question that was settled.
func (u *unaskedQuestions) forget(seq uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.open, seq)
}

// takeParked forgets the questions that could not be answered because the run was parked, and
// returns their ordinals.
func (u *unaskedQuestions) takeParked() (seqs []uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	seqs, u.parked = u.parked, nil
	for _, seq := range seqs {
		delete(u.open, seq)
	}
	return seqs
}

// first returns the ordinal of the first open question.
func (u *unaskedQuestions) first() (seq uint64, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, seq := range slices.Sorted(maps.Keys(u.open)) {
		return seq, true
	}
	return 0, false
}

// areShown reports whether the call's view asks the open questions, unless the photon has
// announced further ones.
func (u *unaskedQuestions) areShown() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shownInChat && len(u.open) > 0
}

// noteWaiting records whether the questions are all that the call waits for.
func (u *unaskedQuestions) noteWaiting(only bool, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case !only:
		u.since = time.Time{}
	case u.since.IsZero():
		u.since = now
	}
}

// waitingSince returns since when the questions are all that the call waits for; zero if
// they aren't.
func (u *unaskedQuestions) waitingSince() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.since
}
