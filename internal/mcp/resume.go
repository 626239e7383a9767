package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// ResumeTool is the name of the tool that takes up again a run whose call was
// handed off. No photon is offered under it as long as calls are.
const ResumeTool = "beam_resume"

var resumeInput = json.RawMessage(`{"type":"object","properties":{"run":{"type":"string",` +
	`"description":"The handle that the result of the earlier call gave."}},"required":["run"],"additionalProperties":false}`)

// resumeTool is the tool as it is listed.
func resumeTool() server.ServerTool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(ResumeTool, "Goes on with a tool that ended before it was done because it waits for an answer by the user: "+
		"waits for the answer, and returns the tool's result, or says what it asks next. "+
		"Call it once the user has the address to answer at, as often as need be; nothing is lost or done twice.", resumeInput)
	t.Title = "Go on with a tool that waits"
	t.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no,
	}
	return server.ServerTool{Tool: t, Handler: calledHere}
}

// offersResume tells whether a name is that of [ResumeTool].
func (s *Server) offersResume(name string) bool { return name == ResumeTool && s.asks.handsOff() }

// noRun is what is said of every handle that opens nothing, whether there is
// such a run or not.
const noRun = "This handle opens no run: it is not one that an earlier call gave you, or the run is not kept any more " +
	"(one that was not durable ended with the Beam that it ran in). Call the tool itself again."

// takeUp finds the run that [ResumeTool] was called for. If there is none for
// this caller, the reply says so.
func (c *call) takeUp(args json.RawMessage) *reply {
	said := func(text string) *reply {
		r := c.done(toolError(text), "")
		return &r
	}
	var handle struct {
		Run string `json:"run"`
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if d.Decode(&handle) != nil || handle.Run == "" {
		return said("The arguments for " + ResumeTool + ` are not valid: it takes {"run": HANDLE}, with the handle that the result of the earlier call gave.`)
	}
	engine, who := c.server.engine, c.client.who
	err := engine.Keep(who, handle.Run)
	info, infoErr := engine.Info(who, handle.Run)
	switch err = errors.Join(err, infoErr); {
	case errors.Is(err, run.ErrNotFound), errors.Is(err, run.ErrForbidden):
		return said(noRun)
	case run.Passing(err):
		return said("The run can't be read at the moment. Nothing of it is lost: call " + ResumeTool + " again in a while.")
	case err != nil:
		r := c.broken(err)
		return &r
	}
	photon, ok := c.server.photons.Lookup(info.Photon)
	switch {
	case ok:
	case info.State.Ended(): // its result is here
		photon = standIn(info.Photon)
	default:
		return said("The tool " + info.Photon + " of this run is not here now. The run waits for it.")
	}
	c.photon, c.run, c.begun, c.resumed = photon, info.ID, info.Last, true
	c.promise() // anew, if Beam was restarted
	c.session.forgetSettled(info)
	c.turn = c.server.turns.Add(1)
	return nil
}

// forgetSettled forgets the questions of earlier calls of a run that are settled,
// where nobody is left to be told so: their streams broke off.
func (s *session) forgetSettled(info run.Info) {
	open := map[uint64]bool{}
	for _, a := range info.Asks {
		_, seq, _ := log.SplitAskID(a.ID)
		open[seq] = true
	}
	for _, c := range s.broken(info.ID) {
		c.mu.Lock()
		var settled []string
		c.puts = slices.DeleteFunc(c.puts, func(p *put) bool {
			over := !open[p.seq] && p.seq <= info.Last
			if over {
				settled = append(settled, p.id())
			}
			return over
		})
		c.mu.Unlock()
		for _, id := range settled {
			s.forget(id)
		}
	}
}

// broken are the calls of a run that can be resumed and are not under way.
func (s *session) broken(id string) (calls []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.run == id && s.under[string(c.id)] == nil {
			calls = append(calls, c)
		}
	}
	return calls
}

// rejoin takes in what the run has done so far, which is told nobody again, and
// asks what is open. It returns the call's reply if the run has ended.
func (f *follower) rejoin(ctx context.Context) (r reply, over bool) {
	open, r, over := f.past(ctx)
	if over {
		return r, true
	}
	f.out.begin(f.cursor(f.after))
	for _, seq := range open {
		if err := f.put(ctx, seq); err != nil {
			return f.failed(err), true
		}
	}
	return reply{}, false
}

// past reads what is in the run's log: the ordinals of the questions that are
// open at its end, or the reply of a run that has ended.
func (f *follower) past(ctx context.Context) (open []uint64, r reply, over bool) {
	batches, err := f.server.engine.Read(ctx, f.client.who, f.run)
	if err != nil {
		return nil, f.broken(err), true
	}
	asked := map[uint64]bool{}
	for batch, err := range batches {
		if err != nil {
			return nil, f.broken(err), true
		}
		for _, e := range batch {
			f.after = e.Seq
			switch e.Kind {
			case log.KindFinished:
				return nil, f.end(ctx, e), true
			case log.KindAsked:
				asked[e.Seq] = true
			case log.KindAnswered, log.KindWithdrawn:
				s, err := log.As[settlement](e)
				if err != nil {
					return nil, f.broken(err), true
				}
				delete(asked, s.Ask)
			default:
				if err := f.catch(e); err != nil {
					return nil, f.broken(err), true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(asked)), reply{}, false
}

// failed is the reply of a call that can't go on: none to a client that is
// gone, which may come back and resume.
func (f *follower) failed(err error) reply {
	if errors.Is(err, errGone) {
		return f.leave(errGone)
	}
	return f.broken(err)
}

// interrupted says of a run that was, to whoever wanted to go on with it, what
// can be done.
func interrupted(end log.Finished) log.Finished {
	if end.Status == log.Interrupted {
		end.Error = "This run was interrupted and can't be gone on with: " + end.Error + ". Its questions are withdrawn. Call the tool itself again."
	}
	return end
}

// promised is the schema of the structured content that a photon's results
// always have for a client; nil if none was promised. A client that can't be
// asked is promised none: its calls may end before their runs do, and such a
// result has none.
func (s *Server) promised(p *generators.Photon, c *client) json.RawMessage {
	if s.asks.handsOff() && !c.forms() && !c.urls() {
		return nil
	}
	return outputSchema(p, c)
}
