package engine

import (
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/retention"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// The errors of the engine's methods. Their texts are for people.
var (
	ErrPhotonNotFound       = errors.New("there is no such photon")
	ErrRunNotFound          = errors.New("there is no such run")
	ErrAskNotFound          = errors.New("there is no such question")
	ErrForbidden            = errors.New("this belongs to another user")
	ErrOthersAnswer         = errors.New("this question is for others to answer") // see [OthersAnswerError]
	ErrSettled              = journal.ErrSettled
	ErrIdempotencyKeyReused = errors.New("the idempotency key has been used for another request")
	ErrTooManyRuns          = errors.New("too many runs are in progress; stop some first")
	ErrRunEnded             = errors.New("this run has ended")
	ErrRunNotEnded          = errors.New("this run has not ended; stop it first")
	ErrRunInUse             = errors.New("someone is reading this run; try again later")
	ErrClosing              = errors.New("no new runs are accepted, because Beam is shutting down")
	ErrDeletionPaused       = retention.ErrPaused // see [Engine.PauseDeletion]
)

// isSuperseded reports whether an append failed because another process has
// claimed the run, which continues there.
func (r *trackedRun) isSuperseded(err error) bool {
	return errors.Is(err, journal.ErrOver) && !r.State.Ended()
}

// IsTransient reports whether an append or answer that failed with err may succeed later.
func IsTransient(err error) bool {
	return errors.Is(err, budget.ErrExceeded) || errors.Is(err, runlog.ErrDiskFull) || errors.Is(err, runlog.ErrUnavailable) || errors.Is(err, runlog.ErrUncertain)
}

// A toolError is an error that the tool's code caused. Its text is for people.
type toolError struct{ text string }

func (e *toolError) Error() string { return e.text }

func toolErrorf(format string, args ...any) error { return &toolError{fmt.Sprintf(format, args...)} }

// An unreadableLogError means that a log could be read but not decoded.
type unreadableLogError struct{ error }

func (e unreadableLogError) Unwrap() error { return e.error }

// isUnrecoverable reports whether a run's history is lost, so that no later attempt
// can resume the run.
func isUnrecoverable(err error) bool {
	var unreadable unreadableLogError
	return errors.As(err, &unreadable) || errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrChanged) || errors.Is(err, runlog.ErrNotFound)
}
