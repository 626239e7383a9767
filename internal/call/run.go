package call

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/internal/humanize"
)

// A Run is one execution of a photon. It turns the body of a loop over its events into a
// Yield that any goroutine may call at any time. Most callers only need Photon.Run. An engine
// with thousands of waiting runs calls Stop instead of deriving a context for each.
type Run interface {
	// All executes the run, as Photon.Run describes, except that the driver replies to calls:
	// an event is a [*Call] or a generators.Event. Call it at most once:
	//
	//	for event, err := range run.All { … }
	All(body func(event any, err error) bool)
	// Context returns the generator's context. It ends with the run; its cause is the
	// reason.
	Context() context.Context
	// Stop ends the run: it cancels the run's context with the cause and settles every
	// open call with it. It doesn't wait for the generator to return. It may be called
	// from any goroutine, from the loop body, and more than once; the first cause is
	// used.
	Stop(cause error)
	// SetID sets the ID that the idempotency keys of the run's steps begin with. Call it
	// before All. The default is a random ID.
	SetID(id string)
	// SetRecordedKeys tells the run which keys its log has, before the run is started. When a
	// goroutine makes a call with one of the keys that photons give, find returns the unique
	// key of the recorded call that this is, or "" if the call is new; it then gets a key
	// that the log doesn't have.
	SetRecordedKeys(keys []string, find func(goroutine, given string) string)
	// Goroutine returns the name of the goroutine whose yield the current event has come
	// through: that of its parent and its number among the goroutines that the parent has
	// started, as in "2" and "2.1". It is empty for the generator itself. Call it from the
	// loop body.
	Goroutine() string
	// RanTogether reports whether the goroutine a has begun before the goroutine b returned.
	// It is true if one of them hasn't begun. Call it from the loop body.
	RanTogether(a, b string) bool
	// Concurrent reports whether the generator has started goroutines with generators.Go, so
	// that the order of its calls may differ from run to run. Call it from the loop body.
	Concurrent() bool
	// Working reports whether some of the run's goroutines are not waiting for replies. It
	// assumes that the generator itself waits for its goroutines, unless it has waited for
	// a reply since the first of them started. It may be called from any goroutine.
	Working() bool
}

// A PanicError is the error of a run whose generator panicked. Its text is for the
// person who started the run; Value and Stack are for the operator's log.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return "the tool failed: it panicked" }

// The keys of a context's caller, a generators.Caller, and of its folder, a string.
type (
	CallerKey struct{}
	RootKey   struct{}
)

// MaxText is the maximum length of an event's text, in bytes.
const MaxText = 16 << 10

// TruncateText returns s if it has at most MaxText bytes. Otherwise it truncates s
// to MaxText bytes and ends it with the number of bytes in s.
func TruncateText(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return humanize.TruncateBytes(s, MaxText, fmt.Sprintf(" … (truncated: %d bytes in all)", len(s)))
}

// Hooks reach what photons and events keep to themselves. Package generators sets them when
// it is initialized: its types are not known here. Package internal/driver has typed
// functions for others to call.
var Hooks struct {
	Prepare       func(ctx context.Context, photon any, args json.RawMessage) Run
	ExclusiveKey  func(photon any, args json.RawMessage) (string, error)
	PhotonError   func(photon any) error    // why it can't be registered
	ArtifactError func(artifact any) error  // why it can't be shown
	Event         func(c *Call) (event any) // a generators.Event that is the call
	CallOf        func(event any) (*Call, bool)
}
