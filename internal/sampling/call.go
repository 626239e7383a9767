package sampling

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
)

// noStanding is the id of no standing approval.
const noStanding = 0

// A call is the call of a model for a question.
type call struct {
	service  *Service
	askID    string
	number   int
	photon   string
	server   string // that asks; empty for a photon
	owner    string
	approval runlog.Approval
	model    *llm.Model
	body     []byte
	input    int               // estimated tokens of the request
	standing int               // the id of a standing approval; noStanding if a person approved the request
	reserved int               // tokens of the standing approval
	caller   generators.Caller // who records what happens

	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the call has ended

	mu      sync.Mutex
	text    strings.Builder // not recorded yet
	arrived chan struct{}   // has a token if text has arrived
	total   strings.Builder
}

// begin records an approval as a call of a question: that with a number, or the next one
// if it is 0. The caller runs the call.
func (s *Service) begin(caller generators.Caller, askID string, number int, a runlog.Approval, body []byte, standing int) (*call, error) {
	open, err := s.engine.OpenAsk(s.ctx, caller, askID)
	if err != nil {
		return nil, err
	}
	s.begins.RLock()
	defer s.begins.RUnlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, engine.ErrClosing
	}
	s.calls.Add(1) // before Close waits
	s.mu.Unlock()
	if s.replica != nil {
		a.Worker = s.replica.ID()
	}
	number, err = s.engine.RecordSampling(s.ctx, caller, askID, runlog.Sampling{Call: number, Approved: &a})
	if err != nil {
		s.calls.Done()
		return nil, err
	}
	model := s.models.Lookup(a.Model)
	request := requestOf(open, a, model)
	c := &call{
		service: s, askID: askID, number: number, photon: open.Photon, server: open.Question.Server, owner: open.Owner, approval: a, model: model, body: body,
		input: llm.EstimateTokens(request), reserved: mostTokens(request), standing: standing, caller: callers.Operator(),
		done: make(chan struct{}), arrived: make(chan struct{}, 1),
	}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	s.mu.Lock()
	s.running[askID] = c
	s.mu.Unlock()
	return c, nil
}

// run calls the model and records what it replies.
func (c *call) run() {
	s := c.service
	defer s.calls.Done()
	defer close(c.done)
	defer c.cancel(nil)
	go c.watchQuestion()
	recorded := make(chan struct{})
	streaming, endStreaming := context.WithCancel(context.Background())
	go func() {
		defer close(recorded)
		c.recordText(streaming)
	}()
	reply, err := c.receive()
	endStreaming()
	<-recorded
	c.end(reply, err)
	s.mu.Lock()
	if s.running[c.askID] == c {
		delete(s.running, c.askID)
	}
	s.mu.Unlock()
}

// receive reads the reply.
func (c *call) receive() (*llm.Reply, error) {
	for part, err := range c.model.Stream(c.ctx, c.body) {
		switch {
		case err != nil:
			return nil, err
		case part.Notice != "":
			if err := c.record(runlog.Sampling{Notice: part.Notice}); err != nil {
				return nil, err
			}
		case part.Reply != nil:
			return part.Reply, nil
		default:
			c.addText(part.Text)
		}
	}
	return nil, errors.New("the model's server sent nothing")
}

func (c *call) addText(text string) {
	c.mu.Lock()
	c.text.WriteString(text)
	c.total.WriteString(text)
	c.mu.Unlock()
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

// takeText returns the text that isn't recorded yet, which the caller records.
func (c *call) takeText() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.text.String()
	c.text.Reset()
	return text
}

// batchInterval is how long text is collected before it is recorded: a frame.
const batchInterval = 16 * time.Millisecond

// recordText records text as it arrives, a batch at a time, until streaming ends. Then it
// records the rest.
func (c *call) recordText(streaming context.Context) {
	for {
		select {
		case <-c.arrived:
			timer := time.NewTimer(batchInterval)
			select {
			case <-timer.C:
			case <-streaming.Done():
				timer.Stop()
			}
		case <-streaming.Done():
		}
		if text := c.takeText(); text != "" {
			if err := c.record(runlog.Sampling{Text: text}); err != nil {
				c.cancel(err)
				return
			}
		} else if streaming.Err() != nil {
			return
		}
	}
}

// retryInterval is how often recording is tried again while the log can't be written.
const retryInterval = time.Second

// record records what happens in the call. It waits while the log can't be written.
func (c *call) record(d runlog.Sampling) error {
	d.Call = c.number
	return c.retry(func() error {
		_, err := c.service.engine.RecordSampling(context.Background(), c.caller, c.askID, d)
		return err
	})
}

// retry calls write until the log can be written, or the service closes.
func (c *call) retry(write func() error) error {
	for {
		err := write()
		if !engine.IsTransient(err) {
			return err
		}
		c.service.logger.Warn("recording a model's reply failed; trying again", "ask", c.askID, "err", err)
		timer := time.NewTimer(retryInterval)
		select {
		case <-timer.C:
		case <-c.service.ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// watchQuestion ends the call when its question is settled, or another process has ended it.
func (c *call) watchQuestion() {
	run, seq, _ := runlog.SplitAskID(c.askID)
	batches, err := c.service.engine.Follow(c.ctx, c.caller, run, seq)
	if err != nil {
		c.cancel(errSettled)
		return
	}
	for batch, err := range batches {
		if err != nil {
			return // recording the reply finds out
		}
		for _, e := range batch {
			if cause := e.Visit(settlement{others, seq, c.number}); errors.Is(cause, errSettled) || errors.Is(cause, errStopped) {
				c.cancel(cause)
				return
			}
		}
	}
}

// callStopped says that a person has stopped a call.
const callStopped = "The call was stopped."

// settlement visits the entries after a question. The error of that which settles it is
// errSettled, and of that which ends the call with a number errStopped.
type settlement struct {
	runlog.Rest
	askSeq uint64
	call   int
}

// others are entries that settle no question.
func others(runlog.Entry) error { return nil }

func (s settlement) Answered(_ runlog.Entry, a runlog.Answered) error { return s.settles(a.AskSeq) }

func (s settlement) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error { return s.settles(w.AskSeq) }

func (s settlement) Finished(runlog.Entry, runlog.Finished) error { return errSettled }

func (s settlement) Sampling(_ runlog.Entry, d runlog.Sampling) error {
	if d.AskSeq == s.askSeq && d.Call == s.call && d.Ended != nil {
		return errStopped
	}
	return nil
}

func (s settlement) settles(askSeq uint64) error {
	if askSeq == s.askSeq {
		return errSettled
	}
	return nil
}

// end records how the call ended, counts it, and returns the reply unless a person is to
// read it first.
func (c *call) end(reply *llm.Reply, err error) {
	s := c.service
	if errors.Is(context.Cause(c.ctx), errClosing) && reply == nil {
		return // the next process goes on
	}
	end, outcome := c.describeEnd(reply, err)
	s.countCall(c, outcome, end)
	err = c.record(runlog.Sampling{Ended: &end})
	if err == nil && reply != nil && !c.approval.Review {
		err = c.answer(*end.Result)
	}
	if err != nil && !errors.Is(err, engine.ErrSettled) && !errors.Is(err, engine.ErrAskNotFound) && !errors.Is(err, engine.ErrSamplingChanged) {
		s.logger.Error("recording a model's reply", "ask", c.askID, "err", err)
	}
}

func (c *call) describeEnd(reply *llm.Reply, err error) (end runlog.EndOfSampling, outcome string) {
	if reply != nil {
		end := runlog.EndOfSampling{Result: &reply.Result, InputTokens: reply.InputTokens, OutputTokens: reply.OutputTokens, Estimated: reply.Estimated}
		if reply.Estimated {
			end.InputTokens = c.input
		}
		return end, OutcomeReplied
	}
	c.mu.Lock()
	end = runlog.EndOfSampling{InputTokens: c.input, OutputTokens: llm.EstimateText(c.total.String()), Estimated: true}
	c.mu.Unlock()
	switch cause := context.Cause(c.ctx); {
	case errors.Is(cause, errStopped):
		end.Stopped, end.Error = true, callStopped
		return end, OutcomeStopped
	case errors.Is(cause, errSettled), errors.Is(cause, engine.ErrSettled):
		end.Stopped, end.Error = true, "The question was settled."
		return end, OutcomeStopped
	}
	end.Error = err.Error()
	return end, OutcomeFailed
}

// answer settles the question with the reply, in the name of who approved the request.
func (c *call) answer(r ask.SampleResult) error {
	return c.retry(func() error {
		return c.service.engine.Answer(context.Background(), approver(c.approval), c.askID, acceptResult(r), Surface)
	})
}

// approver returns who approved a request.
func approver(a runlog.Approval) generators.Caller {
	if a.By != nil {
		return *a.By
	}
	return callers.Operator()
}
