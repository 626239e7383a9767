package generators

import "fmt"

// TaskSupport is how a photon takes to being a task: a call that is answered at
// once with a handle, by which its caller polls, answers, and gets the result
// (MCP 2025-11-25, Tasks; the extension io.modelcontextprotocol/tasks of
// 2026-07-28). Other surfaces don't know the difference.
type TaskSupport string

// The ways of being a task. The zero value leaves it to the caller, if the
// caller has a say: in 2026-07-28 it has none, and the call is none.
const (
	// TaskOptional leaves it to the caller.
	TaskOptional TaskSupport = ""
	// TaskPreferred is for what takes long, or waits for people: whoever can
	// have it as a task should. Who can't, gets it as any call.
	TaskPreferred TaskSupport = "preferred"
	// TaskAfterAsking is TaskPreferred for a photon that begins with questions
	// and then works for long: in 2026-07-28, the call itself asks what is asked
	// at the beginning, and is a task once that is answered.
	TaskAfterAsking TaskSupport = "after asking"
	// TaskRequired refuses calls that are no tasks, with an error that says so.
	TaskRequired TaskSupport = "required"
	// TaskForbidden refuses to be a task.
	TaskForbidden TaskSupport = "forbidden"
)

func (t TaskSupport) validate() error {
	switch t {
	case TaskOptional, TaskPreferred, TaskAfterAsking, TaskRequired, TaskForbidden:
		return nil
	}
	return fmt.Errorf("Options.Task is %q, which is no way of being a task", string(t))
}
