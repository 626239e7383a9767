package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// handle is a Task of the extension: that of 2025-11-25 by other names.
type handle struct {
	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	TTL     *int64    `json:"ttlMs"`
	Poll    int64     `json:"pollIntervalMs,omitempty"`
}

// detailed is a DetailedTask: a task with what belongs to its status.
type detailed struct {
	handle
	Requests map[string]inputRequest `json:"inputRequests,omitempty"`
	Result   *toolResult             `json:"result,omitempty"`
	Error    *rpcError               `json:"error,omitempty"`
}

// created is the reply of a call that is a task now (SEP-2663, Task Creation).
func (c *call) created() reply {
	info, err := c.server.engine.Info(c.client.who, c.run)
	if err != nil {
		return c.broken(err)
	}
	return reply{message: response(c.id, struct {
		envelope
		handle
	}{c.server.envelope(c.client, "task"), handle(taskOf(info))})}
}

// serveExtension serves a request about a task of 2026-07-28.
func (s *Server) serveExtension(x *exchange, m message) reply {
	serve := map[string]func(*exchange, run.Info, taskParams) (any, *rpcError){
		tasksGet: s.getHandle, tasksUpdate: s.updateHandle, tasksCancel: s.cancelHandle,
	}[m.Method]
	if serve == nil {
		return fault(m.ID, unknownMethod(m))
	}
	if !x.client.takesTasks() {
		return fault(m.ID, needsTasks())
	}
	p, refused := taskParamsOf(m)
	if refused != nil {
		return fault(m.ID, refused)
	}
	info, refused := s.runOf(x.client.who, p.ID)
	if refused != nil {
		return fault(m.ID, refused)
	}
	result, refused := serve(x, info, p)
	if refused != nil {
		return fault(m.ID, refused)
	}
	return reply{message: response(m.ID, result)}
}

// getHandle serves tasks/get.
func (s *Server) getHandle(x *exchange, info run.Info, _ taskParams) (any, *rpcError) {
	d, err := s.detail(x, info)
	if err != nil {
		return nil, s.oops("looking at a task", info.ID, err)
	}
	return struct {
		envelope
		detailed
	}{s.envelope(x.client, "complete"), d}, nil
}

// detail is a task as its client is to see it.
func (s *Server) detail(x *exchange, info run.Info) (detailed, error) {
	d := detailed{handle: handle(x.taskFor(x.client, info))}
	switch info.State {
	case run.Waiting:
		return d, s.require(x, info, &d)
	case run.Completed, run.Failed:
		return d, s.conclude(x, info, &d)
	case run.Interrupted:
		d.Error = faultf(mcp.INTERNAL_ERROR, "%s", info.Error)
	}
	return d, nil
}

// require says what the task waits for. What its client can't be asked is asked
// in the inbox: as far as the client is concerned, the task works on.
func (s *Server) require(x *exchange, info run.Info, d *detailed) error {
	c := s.taskCall(x, info)
	d.Requests = map[string]inputRequest{}
	for _, open := range info.Asks {
		b, missing, err := c.bid(open.Question, open.ID)
		switch {
		case err != nil:
			return err
		case missing == nil:
			d.Requests[open.Key] = inputRequest{b.method, b.params}
		case !elsewhere(open.Question) && !s.asks.Link:
			if err := c.cannot(context.Background(), open.ID, missing, nil); err != nil {
				return err
			}
		}
	}
	if len(d.Requests) == 0 {
		d.Status = taskWorking
	}
	return nil
}

// conclude says how the task ended: as the call itself would have.
func (s *Server) conclude(x *exchange, info run.Info, d *detailed) error {
	f := s.taskCall(x, info).follower(x.out, x.flight)
	ctx := context.Background() // reading waits for nothing
	batches, err := s.engine.ReadAfter(ctx, x.client.who, info.ID, 0)
	if err != nil {
		return err
	}
	var end log.Finished
	for batch, err := range batches {
		for _, e := range batch {
			if err == nil && e.Kind == "artifact" {
				f.made = append(f.made, e.Seq)
			}
			if err == nil && e.Kind == log.KindFinished {
				end, err = log.As[log.Finished](e)
			}
		}
		if err != nil {
			return err
		}
	}
	if l := lacking(end); l != nil {
		d.Status, d.Error = taskFailed, l.modern()
		return nil
	}
	// That the tool failed is in the result: the request has succeeded.
	d.Status, d.Message = taskCompleted, ""
	d.Result, err = f.result(ctx, end)
	if err == nil {
		d.Result.envelope = envelope{Type: "complete"}
	}
	return err
}

// lacking is the capability whose lack made a run fail, if that is why. It goes
// by the words, which a run's log keeps.
func lacking(end log.Finished) *lack {
	if end.Status != log.Failed {
		return nil
	}
	if l := (&lack{"roots", needsRoots}); strings.Contains(end.Error, l.Error()) {
		return l
	}
	return nil
}

// taskCall is a call that stands for a task.
func (s *Server) taskCall(x *exchange, info run.Info) *call {
	photon, ok := s.photons.Lookup(info.Photon)
	if !ok {
		photon = standIn(info.Photon)
	}
	return &call{server: s, session: x.session, client: x.client, photon: photon, run: info.ID, task: true}
}

// updateHandle serves tasks/update: it takes all answers or, if one of them does
// not fit, none. Those to no open question are ignored (SEP-2663, Task Update
// Requests).
func (s *Server) updateHandle(x *exchange, info run.Info, p taskParams) (any, *rpcError) {
	if p.Responses == nil {
		return nil, faultf(mcp.INVALID_PARAMS, "inputResponses must be an object with an answer for each key of inputRequests that is answered")
	}
	c := s.taskCall(x, info)
	answers := map[string]ask.Answer{} // by the question's id
	invalid := map[string]*generators.InvalidError{}
	for _, open := range info.Asks {
		response, given := p.Responses[open.Key]
		b, missing, err := c.bid(open.Question, open.ID)
		if !given || missing != nil || err != nil {
			continue
		}
		a, err := c.read(open.Question, response)
		if err == nil && b.consent && a.Action == ask.Accept {
			continue // the person answers on Beam's page
		}
		if err == nil {
			a, err = open.Question.Check(a)
		}
		var wrong *generators.InvalidError
		if errors.As(err, &wrong) {
			invalid[open.Key] = wrong
		}
		answers[open.ID] = a
	}
	if len(invalid) > 0 {
		return nil, misfits(invalid)
	}
	for id, a := range answers {
		err := s.engine.Answer(context.Background(), x.client.who, id, a, surface)
		if err != nil && !errors.Is(err, run.ErrSettled) && !errors.Is(err, run.ErrNoAsk) {
			return nil, s.oops("taking an answer", info.ID, err)
		}
	}
	return s.envelope(x.client, "complete"), nil
}

// misfits is the error for answers that do not fit.
func misfits(invalid map[string]*generators.InvalidError) *rpcError {
	var said []string
	for key, wrong := range invalid {
		said = append(said, "inputResponses["+key+"]: "+wrong.Error())
	}
	slices.Sort(said)
	e := faultf(mcp.INVALID_PARAMS, "no answer was taken, for not all fit: %s", strings.Join(said, "; "))
	e.Data = invalid
	return e
}

// cancelHandle serves tasks/cancel. A task that has ended is no error.
func (s *Server) cancelHandle(x *exchange, info run.Info, _ taskParams) (any, *rpcError) {
	if err := s.engine.Cancel(context.Background(), x.client.who, info.ID); err != nil && !errors.Is(err, run.ErrNotFound) {
		return nil, s.oops("cancelling a task", info.ID, err)
	}
	return s.envelope(x.client, "complete"), nil
}
