package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// maxViewWait is the longest wait of [apps.ReadTool] for something new.
const maxViewWait = 5 * time.Second

// maxViewWaits bounds how many of these calls wait at once. Further ones don't wait.
const maxViewWaits = 1000

// errNoSuchRun is the error for a handle whose run the caller doesn't own. It is the same
// whether or not there is one.
var errNoSuchRun = errors.New("no run has this handle, or it is no longer kept")

// serveAppTool serves a call of one of the view's tools. The handle in it names a run and
// authorizes nothing: the caller must be the run's owner. Hosts hide these tools from
// their models, but not all do, so nothing proves that a person acts.
func (c *call) serveAppTool(inFlight *requests.InFlight, p *requestParams) *reply {
	ctx := inFlight.NewContext()
	var result any
	var err error
	if p.Name == apps.ReadTool {
		result, err = c.readForView(ctx, p.Arguments)
	} else {
		result, err = c.actFromView(ctx, p.Arguments)
	}
	switch {
	case inFlight.Cause() != nil:
		return &reply{}
	case err != nil:
		return c.appErrorReply(p.Name, err)
	}
	raw := msg.Compacted(result)
	r := c.resultReply(&msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(string(raw))}, Structured: raw}, "")
	return &r
}

// appErrorReply returns the reply for a call that failed. The view shows its text.
func (c *call) appErrorReply(tool string, err error) *reply {
	var invalid *generators.InvalidError
	text := ""
	switch {
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden), errors.Is(err, engine.ErrAskNotFound):
		text = errNoSuchRun.Error()
	case errors.Is(err, errNoSuchRun), errors.As(err, &invalid), errors.Is(err, errOnlyOnPage), errors.Is(err, engine.ErrOthersAnswer), errors.As(err, new(argumentError)):
		text = err.Error()
	case engine.IsTransient(err):
		text = "the run can't be reached at the moment; nothing is lost"
	default:
		c.server.logger.Error("serving the view of a run", "tool", tool, "err", err)
		text = "Beam could not serve this; its log says why"
	}
	raw := msg.Compacted(map[string]string{"error": text})
	r := c.resultReply(&msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(string(raw))}, Structured: raw, IsError: true}, "")
	return &r
}

// An argumentError says which arguments of a view's tool are wrong.
type argumentError string

func (e argumentError) Error() string { return string(e) }

// parseViewArguments decodes the arguments of one of the view's tools.
func parseViewArguments(raw json.RawMessage, into any) error {
	if len(raw) == 0 || bytes.Equal(raw, msg.Null) {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return argumentError("the arguments are not valid: " + msg.DescribeJSONError(err))
	}
	return nil
}

// findOwnRun returns a run of the caller's own that an MCP client has started. An
// operator's client doesn't act on the runs of others, nor on those of pages.
func (c *call) findOwnRun(run string) (engine.Info, error) {
	info, err := c.server.engine.Info(c.client.caller, run)
	if err == nil && (info.Owner != c.client.caller.ID || info.Surface != msg.Surface && info.Surface != tasks.Surface) {
		err = errNoSuchRun
	}
	return info, err
}

// readForView serves [apps.ReadTool].
func (c *call) readForView(ctx context.Context, raw json.RawMessage) (any, error) {
	var args apps.ReadArguments
	if err := parseViewArguments(raw, &args); err != nil {
		return nil, err
	}
	base, _ := c.session.pageBaseURL() // without pages, the view has no links
	if args.Run == "" {
		return inboxOf(base), nil
	}
	info, err := c.findOwnRun(args.Run)
	if err != nil {
		return nil, err
	}
	if wait := min(time.Duration(args.Wait)*time.Second, maxViewWait); wait > 0 && info.LastSeq <= args.After && !info.State.Ended() {
		if err := c.server.awaitEntry(ctx, c.client.caller, info.ID, args.After, wait); err != nil {
			return nil, err
		}
	}
	snapshot, err := c.server.apps.View.Render(ctx, c.client.caller, apps.Reading{Run: info.ID, After: args.After, Base: base, Policy: c.policyFor(info)})
	if err != nil {
		return nil, err
	}
	if snapshot.Ended {
		snapshot.Told, err = c.server.apps.Marks.Told(ctx, info.ID)
	}
	return snapshot, err
}

// inboxOf returns the address of the inbox, for a view that doesn't know its run.
func inboxOf(base string) map[string]string {
	if base == "" {
		return map[string]string{}
	}
	return map[string]string{"inbox": links.Base(base).Inbox()}
}

// awaitEntry waits until a run has an entry after an ordinal, or for some time.
func (s *Server) awaitEntry(ctx context.Context, caller generators.Caller, run string, after uint64, atMost time.Duration) error {
	if s.viewWaits.Add(1) > maxViewWaits {
		atMost = 0
	}
	defer s.viewWaits.Add(-1)
	woken := make(wakeSignal, 1)
	available, err := s.engine.AddWaiter(caller, run, after, woken)
	if err != nil || available {
		return err
	}
	defer s.engine.RemoveWaiter(run, woken)
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	case <-ctx.Done():
	case <-s.closed.Done():
	}
	return nil
}

// A wakeSignal is an [engine.Waiter] that somebody waits for. Its capacity is 1.
type wakeSignal chan struct{}

var _ engine.Waiter = wakeSignal(nil)

// Wake implements [engine.Waiter].
func (w wakeSignal) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}
