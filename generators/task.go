package generators

import "fmt"

// TaskSupport controls whether a call of a photon is a task: the server responds at
// once with a handle, and the client uses it to poll, to answer questions and to get
// the result (MCP 2025-11-25, Tasks; the extension io.modelcontextprotocol/tasks of
// 2026-07-28). It has no effect on other surfaces.
type TaskSupport string

// The values of TaskSupport.
const (
	// TaskOptional lets the client decide. In MCP 2026-07-28, where clients can't, the
	// call becomes a task if it waits for an answer that its client can't be asked for,
	// or works for more than two seconds and reports no progress to its client.
	TaskOptional TaskSupport = ""
	// TaskPreferred is for photons that take long or wait for people: the call is a
	// task if the client supports tasks.
	TaskPreferred TaskSupport = "preferred"
	// TaskAfterAsking is TaskPreferred for a photon that begins with questions and
	// then works for long: in MCP 2026-07-28, the call itself asks the first
	// questions, and becomes a task once they are answered.
	TaskAfterAsking TaskSupport = "after asking"
	// TaskRequired rejects calls that are not tasks.
	TaskRequired TaskSupport = "required"
	// TaskForbidden rejects calls as tasks. No call becomes one.
	TaskForbidden TaskSupport = "forbidden"
)

func (t TaskSupport) validate() error {
	switch t {
	case TaskOptional, TaskPreferred, TaskAfterAsking, TaskRequired, TaskForbidden:
		return nil
	}
	return fmt.Errorf("Options.Task is %q, which is not a TaskSupport", string(t))
}
