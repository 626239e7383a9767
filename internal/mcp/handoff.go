package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// leaveOpen leaves a question that the client can't be asked open, and tells it
// where somebody may answer. Without links it is withdrawn.
func (f *follower) leaveOpen(ctx context.Context, open run.Open, seq uint64, missing *lack) error {
	if !f.server.asks.Link {
		return f.cannot(ctx, open.ID, missing, nil)
	}
	if _, err := f.pageOf(open.ID); err != nil {
		return f.cannot(ctx, open.ID, missing, err)
	}
	f.mu.Lock()
	if f.linked == nil {
		f.linked = map[uint64]struct{}{}
	}
	f.linked[seq] = struct{}{}
	f.mu.Unlock()
	return f.point(open.ID, open.Question.Message)
}

// unlink forgets a question that is settled.
func (c *call) unlink(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.linked, seq)
}

// heard begins the wait anew: a client that answers, with whatever, is not
// silent.
func (c *call) heard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.patience.renew(time.Now())
	c.pointed = false
}

// handOff ends a call whose questions nobody has answered for long: its result
// says where to do so, and how to take the run up again. The run and its
// questions stay as they are. It is not over if there is nothing to wait for
// any more, or no page to answer at.
func (f *follower) handOff() (r reply, over bool) {
	info, err := f.server.engine.Info(f.client.who, f.run)
	if err != nil || len(info.Asks) == 0 {
		return reply{}, false // which the log says next
	}
	result, err := f.pending(info)
	if err != nil {
		f.server.logger.Error("handing a call off", "run", f.run, "err", err)
		f.heard()
		return reply{}, false
	}
	f.promise()
	f.mu.Lock()
	f.handed = true
	f.mu.Unlock()
	f.takeBack("nobody answered for long; it is open on Beam's page")
	return f.done(result, ""), true
}

// promise keeps the run's result for whoever has its handle.
func (c *call) promise() {
	if err := c.server.engine.Promise(c.client.who, c.run, run.MaxKeep); err != nil {
		c.server.logger.Error("promising to keep a run", "run", c.run, "err", err)
	}
}

// again takes a call up whose client comes back for the rest of its stream. If
// it was handed off, that may not have arrived, and is its reply once more.
func (f *follower) again() (r reply, over bool) {
	f.mu.Lock()
	handed := f.handed
	if handed {
		f.gone = false
	}
	f.mu.Unlock()
	if !handed {
		return reply{}, false
	}
	return f.handOff()
}

// takeBack sees to it that nothing more is asked, and takes back what is.
func (c *call) takeBack(why string) {
	c.mu.Lock()
	c.gone = true
	open, out := slices.Clone(c.puts), c.out
	c.mu.Unlock()
	for _, p := range open {
		_ = c.settled(out, settlement{Ask: p.seq}, why) // a client that is gone need not know
	}
	c.asking.Lock() // until nothing is being sent
	defer c.asking.Unlock()
}

// metaWaiting is the member of a result's _meta that says for programs what
// the text says.
const metaWaiting = "io.github.photon-beam/waiting"

type (
	// waitingRun is what a call that was handed off waits for.
	waitingRun struct {
		Run  string       `json:"run"`
		Asks []waitingAsk `json:"asks"`
	}
	waitingAsk struct {
		ID      string `json:"id"`
		Message string `json:"message"`
		URL     string `json:"url"`
	}
)

// pending is the result of a call that was handed off. To a client that was
// promised structured content for every success it is an error.
func (c *call) pending(info run.Info) (*toolResult, error) {
	waits := waitingRun{Run: c.run}
	var said strings.Builder
	fmt.Fprintf(&said, "%s has not ended: it waits for an answer by the user.\n", c.photon.Title())
	for _, a := range info.Asks {
		address, err := c.pageOf(a.ID)
		if err != nil {
			return nil, err
		}
		waits.Asks = append(waits.Asks, waitingAsk{a.ID, a.Question.Message, address})
		fmt.Fprintf(&said, "\nIt asks: %s\nAnswer at: %s\n", a.Question.Message, address)
	}
	fmt.Fprintf(&said, "\nGive the user the address. Then call the tool %s with {\"run\": %q}: it waits for the answer and returns the result, or the next question. "+
		"Do not call %s again for this: that would begin anew.", ResumeTool, c.run, c.photon.Name())
	result := &toolResult{Content: []content{text(said.String())}}
	result.Meta = map[string]any{metaWaiting: waits}
	result.IsError = !c.resumed && c.server.promised(c.photon, c.client) != nil
	return result, nil
}

// linkID is the id of the request that puts a question: no id is used twice in a
// session.
func (c *call) linkID(seq uint64) string { return log.AskID(c.run, seq) + c.suffix() }
