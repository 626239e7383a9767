// Package driver has what drivers of photons, such as the engine and package beamtest, need of
// package generators, and authors don't: runs, calls and their replies, and events as a log has
// them.
package driver

import (
	"context"
	"encoding/json"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/call"
)

// See package call.
type (
	Call       = call.Call
	Reply      = call.Reply
	Run        = call.Run
	PanicError = call.PanicError
)

// See package call.
const (
	StepKind  = call.StepKind
	SleepKind = call.SleepKind
)

// ErrWithdrawn is [call.ErrWithdrawn].
var ErrWithdrawn = call.ErrWithdrawn

// Prepare returns a run that its method All starts, and that its method Stop or the end of ctx
// stops. A run that is never started holds resources until ctx ends. The arguments are those
// that [generators.Photon.Check] returned.
func Prepare(ctx context.Context, p *generators.Photon, args json.RawMessage) Run {
	return call.Hooks.Prepare(ctx, p, args)
}

// ExclusiveKey returns the key of [generators.Options.Exclusive] for arguments; empty if the
// photon has none.
func ExclusiveKey(p *generators.Photon, args json.RawMessage) (string, error) {
	return call.Hooks.ExclusiveKey(p, args)
}

// PhotonError returns why a photon can't be registered; nil if it can.
func PhotonError(p *generators.Photon) error { return call.Hooks.PhotonError(p) }

// NewCall returns a call that has not been yielded yet; see [NewEvent].
func NewCall(kind, key string, question any) *Call { return call.New(kind, key, question) }

// NewEvent returns an event that is a new call, to be yielded.
func NewEvent(c *Call) generators.Event { return call.Hooks.Event(c).(generators.Event) }

// CallOf returns the call that an event is. It reports false for other events.
func CallOf(event any) (*Call, bool) { return call.Hooks.CallOf(event) }

// WithCaller returns a context for the runs that a caller starts; see
// [generators.CallerOf].
func WithCaller(ctx context.Context, c generators.Caller) context.Context {
	return context.WithValue(ctx, call.CallerKey{}, c)
}

// WithRoot returns a context that allows photons to read the folder dir of this
// machine and everything below it; see [generators.Root]. An empty dir allows nothing, even
// if ctx did. The operator chooses the folder (--root).
func WithRoot(ctx context.Context, dir string) context.Context {
	return context.WithValue(ctx, call.RootKey{}, dir)
}

// SyslogLevel returns l as one of the eight levels of RFC 5424, which MCP logging
// uses: Success, which is not among them, becomes Notice.
func SyslogLevel(l generators.Level) generators.Level {
	if l == generators.Success {
		return generators.Notice
	}
	return l
}
