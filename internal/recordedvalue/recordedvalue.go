// Package recordedvalue has the error for a value that a run's log holds and its photon's code no
// longer accepts, so that who resumes the run can tell it from the code's own errors.
package recordedvalue

// An Error means that a recorded value doesn't fit the type that the code now has for it. What
// completes the sentence "the recorded … doesn't fit".
type Error struct {
	What string
	Err  error
}

func (e *Error) Error() string { return "the recorded " + e.What + " doesn't fit: " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }
