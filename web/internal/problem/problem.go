// Package problem says what is wrong with a request: it maps errors to HTTP statuses, and to
// sentences for the caller, in one table.
package problem

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/web/identity"
)

// An Error is an error with an HTTP status and a message for the caller.
type Error struct {
	Status int
	Text   string
	Title  string // of its page, if that isn't the status's text
	// Where such a page leads, and what the link says.
	URL, Link string
}

func (e *Error) Error() string { return e.Text }

// Errorf returns an [*Error].
func Errorf(status int, format string, args ...any) error {
	return &Error{Status: status, Text: fmt.Sprintf(format, args...)}
}

// ErrPageNotFound is the error for an address that leads nowhere.
var ErrPageNotFound = Errorf(http.StatusNotFound, "Page not found.")

// ErrOperatorsOnly is a kind of [engine.ErrForbidden] that says who may.
var ErrOperatorsOnly error = operatorsOnlyError{}

type operatorsOnlyError struct{}

func (operatorsOnlyError) Error() string { return "only operators may do this" }
func (operatorsOnlyError) Unwrap() error { return engine.ErrForbidden }

// statuses maps errors to HTTP statuses.
var statuses = []struct {
	err    error
	status int
}{
	{callers.ErrSignInRequired, http.StatusUnauthorized},
	{identity.ErrNotSignedIn, http.StatusUnauthorized},
	{callers.ErrForbidden, http.StatusForbidden},
	{engine.ErrPhotonNotFound, http.StatusNotFound},
	{engine.ErrRunNotFound, http.StatusNotFound},
	{engine.ErrAskNotFound, http.StatusNotFound},
	{blob.ErrNotFound, http.StatusNotFound},
	{ErrOperatorsOnly, http.StatusForbidden}, // before what it wraps
	{engine.ErrForbidden, http.StatusForbidden},
	{engine.ErrOthersAnswer, http.StatusForbidden},
	{engine.ErrInputUnknown, http.StatusConflict},
	{engine.ErrRunEnded, http.StatusConflict},
	{engine.ErrRunNotEnded, http.StatusConflict},
	{engine.ErrRunInUse, http.StatusConflict},
	{engine.ErrDeletionPaused, http.StatusConflict},
	{engine.ErrSettled, http.StatusConflict},
	{engine.ErrSamplingChanged, http.StatusConflict},
	{sampling.ErrNoReply, http.StatusConflict},
	{sampling.ErrNotReplying, http.StatusConflict},
	{sampling.ErrNotForModel, http.StatusConflict},
	{sampling.ErrNoStanding, http.StatusNotFound},
	{engine.ErrIdempotencyKeyReused, http.StatusUnprocessableEntity},
	{engine.ErrTooManyRuns, http.StatusTooManyRequests},
	{engine.ErrClosing, http.StatusServiceUnavailable},
	{runlog.ErrUnavailable, http.StatusServiceUnavailable},
	{runlog.ErrUncertain, http.StatusServiceUnavailable},
}

// diskFullText explains why writes fail although df reports free space.
var diskFullText = fmt.Sprintf("The disk is full: Beam keeps %d MiB free. Free some space, and Beam continues by itself.", diskspace.DefaultMinFree>>20)

// Classify returns the HTTP status of an error and the message for the caller.
// Internal causes go to the log only.
func Classify(err error) (status int, text string, fields []generators.FieldError) {
	var own *Error
	var invalid *generators.InvalidError
	var large *http.MaxBytesError
	var others *engine.OthersAnswerError
	var parked *engine.ParkedError
	var until *engine.UntilError
	var exceeded *budget.ExceededError
	var tooMany *signin.TooManyError
	var refused *callers.RefusedError
	var damaged *runlog.DamagedError
	switch {
	case errors.As(err, &own):
		return own.Status, own.Text, nil
	case errors.As(err, &invalid):
		return http.StatusUnprocessableEntity, describeInvalid(invalid), invalid.Fields
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("The request is too large. The limit is %d bytes.", large.Limit), nil
	case errors.As(err, &refused) && refused.Forbidden:
		return http.StatusForbidden, refused.Text, nil
	case errors.As(err, &refused):
		return http.StatusUnauthorized, refused.Text, nil
	case errors.As(err, &others):
		return http.StatusForbidden, Sentence(others.Error()), nil
	case errors.As(err, &parked):
		return http.StatusConflict, Sentence(parked.Error()), nil
	case errors.As(err, &until):
		return http.StatusBadRequest, Sentence(until.Error()), nil
	case errors.As(err, &tooMany):
		return http.StatusTooManyRequests, Sentence(tooMany.Error()), nil
	case errors.As(err, &exceeded):
		return exceeded.Status(), Sentence(exceeded.Error()), nil
	case errors.As(err, &damaged):
		return http.StatusInternalServerError, Sentence(damaged.Error()), nil
	case errors.Is(err, runlog.ErrDiskFull):
		return http.StatusServiceUnavailable, diskFullText, nil
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status, Sentence(s.err.Error()), nil
		}
	}
	return http.StatusInternalServerError, "Internal error. See the log for details.", nil
}

// describeInvalid returns the first errors of an invalid value, in sentences.
func describeInvalid(err *generators.InvalidError) string {
	const most = 3
	var sentences []string
	for _, f := range err.Fields[:min(len(err.Fields), most)] {
		sentences = append(sentences, driver.Sentence(f, ""))
	}
	if more := len(err.Fields) - most; more > 0 {
		sentences = append(sentences, humanize.CountOf(more, "more error.", "more errors."))
	}
	return strings.Join(sentences, " ")
}

// Sentence returns a text as a sentence.
func Sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// defaultRetryAfter is when a client may try again that was refused for a reason that
// passes by itself.
const defaultRetryAfter = 5 * time.Second

// SetRetryAfter says when a request that was refused may be sent again.
func SetRetryAfter(w http.ResponseWriter, status int, err error) {
	after := defaultRetryAfter
	var exceeded *budget.ExceededError
	var tooMany *signin.TooManyError
	switch {
	case errors.As(err, &exceeded):
		after = exceeded.RetryAfter
	case errors.As(err, &tooMany):
		after = tooMany.RetryAfter
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(after.Seconds())))
	}
}
