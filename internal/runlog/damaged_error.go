package runlog

import "fmt"

// A DamagedError means that a stored file of a run is not what was stored. Its text is for
// people: it names the file and the run.
type DamagedError struct {
	Run  string
	File string // what people call it, as in `the file "plan.pdf"`
	Err  error  // what is wrong
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s of run %s is damaged: %v", e.File, e.Run, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }
