package apps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/registry"
)

// Tools serve the calls of the view's tools. Their methods may be called concurrently.
type Tools struct {
	engine  *engine.Engine
	photons *registry.Registry
	view    View
	marks   *Marks
	policy  Policy
	logger  *slog.Logger
	waits   atomic.Int64 // calls of ReadTool that wait
}

// NewTools returns the tools of a view.
func NewTools(e *engine.Engine, photons *registry.Registry, v View, m *Marks, p Policy, l *slog.Logger) *Tools {
	return &Tools{engine: e, photons: photons, view: v, marks: m, policy: p, logger: l}
}

// A Call is a call of one of the view's tools. The handle in its arguments names a run and
// authorizes nothing: the caller must be the run's owner. Hosts hide these tools from
// their models, but not all do, so nothing proves that a person acts.
type Call struct {
	Tool       string
	Arguments  json.RawMessage
	Caller     generators.Caller
	ClientName string
	Base       string // the base URL of Beam's pages; empty if there are none
}

// Serve serves a call, and returns its result.
func (t *Tools) Serve(ctx context.Context, call Call) (any, error) {
	if call.Tool == ReadTool {
		return t.read(ctx, call)
	}
	return t.act(ctx, call)
}

// DescribeError returns the text that the view shows of an error of [Tools.Serve]. It logs
// what the text doesn't disclose.
func (t *Tools) DescribeError(tool string, err error) string {
	var invalid *generators.InvalidError
	switch {
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden), errors.Is(err, engine.ErrAskNotFound):
		return errNoSuchRun.Error()
	case errors.Is(err, errNoSuchRun), errors.As(err, &invalid), errors.Is(err, errOnlyOnPage), errors.Is(err, engine.ErrOthersAnswer), errors.Is(err, engine.ErrParked), errors.As(err, new(argumentError)):
		return err.Error()
	case engine.IsTransient(err):
		return "the run can't be reached at the moment; nothing is lost"
	}
	t.logger.Error("serving the view of a run", "tool", tool, "err", err)
	return "Beam could not serve this; its log says why"
}

// SweepMarks removes the marks of runs that have been deleted.
func (t *Tools) SweepMarks(ctx context.Context) {
	err := t.marks.Sweep(ctx, func(run string) bool { return t.engine.Exists(run) })
	if err != nil {
		t.logger.Warn("removing marks of deleted runs", "err", err)
	}
}

// maxWait is the longest wait of [ReadTool] for something new.
const maxWait = 5 * time.Second

// maxWaits bounds how many of these calls wait at once. Further ones don't wait.
const maxWaits = 1000

// errNoSuchRun is the error for a handle whose run the caller doesn't own. It is the same
// whether or not there is one.
var errNoSuchRun = errors.New("no run has this handle, or it is no longer kept")

// An argumentError says which arguments of a view's tool are wrong.
type argumentError string

func (e argumentError) Error() string { return string(e) }

// parseArguments decodes the arguments of one of the view's tools.
func parseArguments(raw json.RawMessage, into any) error {
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
func (t *Tools) findOwnRun(call Call, run string) (engine.Info, error) {
	info, err := t.engine.Info(call.Caller, run)
	if err == nil && (info.Owner != call.Caller.ID || info.Surface != msg.Surface && info.Surface != tasks.Surface) {
		err = errNoSuchRun
	}
	return info, err
}

// read serves [ReadTool].
func (t *Tools) read(ctx context.Context, call Call) (any, error) {
	var args ReadArguments
	if err := parseArguments(call.Arguments, &args); err != nil {
		return nil, err
	}
	if args.Run == "" {
		return inboxOf(call.Base), nil
	}
	info, err := t.findOwnRun(call, args.Run)
	if err != nil {
		return nil, err
	}
	if wait := min(time.Duration(args.Wait)*time.Second, maxWait); wait > 0 && info.LastSeq <= args.After && !info.State.Ended() {
		if err := t.awaitEntry(ctx, call.Caller, info.ID, args.After, wait); err != nil {
			return nil, err
		}
	}
	snapshot, err := t.view.Render(ctx, call.Caller, Reading{Run: info.ID, After: args.After, Base: call.Base, Policy: t.policyFor(info)})
	if err != nil {
		return nil, err
	}
	if snapshot.Ended {
		snapshot.Told, err = t.marks.Told(ctx, info.ID)
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
func (t *Tools) awaitEntry(ctx context.Context, caller generators.Caller, run string, after uint64, atMost time.Duration) error {
	if t.waits.Add(1) > maxWaits {
		atMost = 0
	}
	defer t.waits.Add(-1)
	woken := make(wakeSignal, 1)
	available, err := t.engine.AddWaiter(caller, run, after, woken)
	if err != nil || available {
		return err
	}
	defer t.engine.RemoveWaiter(run, woken)
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	case <-ctx.Done():
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
