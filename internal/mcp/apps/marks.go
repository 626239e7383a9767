package apps

import (
	"context"
	"strings"

	"github.com/photon-beam/beam/internal/smallstate"
)

// A Part is a part of what the model is told of a run's end.
type Part string

// The parts, in the order in which they are told.
const (
	Context Part = "context" // ui/update-model-context
	Message Part = "message" // ui/message
)

// Told says which parts the model was told, or is being told.
type Told struct {
	Context bool `json:"context,omitempty"`
	Message bool `json:"message,omitempty"`
}

// Marks records which parts the model was told of which runs, so that views which are
// loaded again, and second views, don't repeat them. The methods may be called concurrently,
// also by several processes.
type Marks struct{ told smallstate.Bucket }

// MarksBucket has a value for each mark, which lasts as long as the run; its key is that of
// [MarkKey].
const MarksBucket = "told"

// NewMarks returns the marks in a store.
func NewMarks(s smallstate.Store) *Marks {
	return &Marks{smallstate.Bucket{Store: s, Name: MarksBucket}}
}

// Claim sets a mark and reports whether it was not set before: of several callers, one
// gets true.
func (m *Marks) Claim(ctx context.Context, run string, part Part) (first bool, err error) {
	return m.told.Add(ctx, MarkKey(run, part), []byte{1})
}

// Release removes a mark, for a caller whose claim came to nothing.
func (m *Marks) Release(ctx context.Context, run string, part Part) error {
	return m.told.Delete(ctx, MarkKey(run, part))
}

// Told returns the marks of a run.
func (m *Marks) Told(ctx context.Context, run string) (t Told, err error) {
	if t.Context, err = m.has(ctx, run, Context); err != nil {
		return t, err
	}
	t.Message, err = m.has(ctx, run, Message)
	return t, err
}

func (m *Marks) has(ctx context.Context, run string, part Part) (bool, error) {
	v, err := m.told.Get(ctx, MarkKey(run, part))
	return v != nil, err
}

// Sweep removes the marks of runs that no longer exist.
func (m *Marks) Sweep(ctx context.Context, exists func(run string) bool) error {
	return m.told.DeleteIf(ctx, func(v smallstate.Value) bool {
		run, _, _ := strings.Cut(v.Key, ".")
		return !exists(run)
	})
}

// MarkKey returns the key of a mark.
func MarkKey(run string, part Part) string { return run + "." + string(part) }
