package testserver

import (
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// workTools returns the tools that take time, change what the server offers, or are
// tasks.
func workTools() []*tool {
	return []*tool{
		{
			name: "progress", description: "Reports progress.",
			input: `"steps":{"type":"integer","default":5,"maximum":1000000},"delay":{"type":"integer","description":"Milliseconds between steps.","default":50}`, run: reportProgress,
		},
		{name: "log", description: "Writes a log message of each level.", run: func(r *request) (object, error) {
			for _, level := range logLevels {
				r.log(level, "a message of level "+level)
			}
			return text("Wrote %d messages.", len(logLevels)), nil
		}},
		{
			name: "slow", description: "Works for a time, and stops at once when it is canceled.",
			input: `"ms":{"type":"integer","default":1000}`, run: work, task: taskOptional,
		},
		{name: "client_capabilities", description: "Returns what the client has declared that it can do.", run: func(r *request) (object, error) {
			return text("%s", r.declared()), nil
		}},
		{name: "change_tools", description: "Adds a tool, or removes the one that it has added.", run: changeTools},
		{name: "change_lists", description: "Says that the lists of tools, resources and prompts have changed.", run: func(r *request) (object, error) {
			for _, method := range []string{mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged} {
				r.server.notifyAll(method, "")
			}
			return text("Said so."), nil
		}},
		{name: "change_resource", description: "Changes the resource test://changing.", run: func(r *request) (object, error) {
			r.server.mu.Lock()
			r.server.texts++
			r.server.mu.Unlock()
			r.server.notifyAll(mcp.MethodNotificationResourceUpdated, "test://changing")
			return text("Changed."), nil
		}},
		{
			name: "task_required", description: "Works for a time, as a task only.",
			input: `"ms":{"type":"integer","default":100}`, run: work, task: taskRequired,
		},
		{name: "task_asking", description: "Asks the person, as a task if the client wants.", task: taskOptional, run: func(r *request) (object, error) {
			return showAnswer(r.elicit(nameForm("Who is the task for?")))
		}},
		{name: "task_failing", description: "Fails, as a task if the client wants.", task: taskOptional, run: func(*request) (object, error) {
			return failure("This task always fails."), nil
		}},
	}
}

func reportProgress(r *request) (object, error) {
	steps, err := r.number("steps", 5, 1_000_000)
	if err != nil {
		return nil, err
	}
	delay, err := r.milliseconds("delay", 50)
	if err != nil {
		return nil, err
	}
	for i := range steps {
		r.progress(float64(i+1), float64(steps), fmt.Sprintf("Step %d of %d", i+1, steps))
		if err := r.wait(delay); err != nil {
			return nil, err
		}
	}
	return text("Took %d steps.", steps), nil
}

func work(r *request) (object, error) {
	d, err := r.milliseconds("ms", 1000)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := r.wait(d); err != nil {
		return nil, err
	}
	return text("Worked for %v.", time.Since(start).Round(time.Millisecond)), nil
}

func changeTools(r *request) (object, error) {
	s := r.server
	s.mu.Lock()
	if s.added == nil {
		s.added = []*tool{returns("added", "Was added by change_tools.", blocks(textBlock("I am new.")))}
	} else {
		s.added = nil
	}
	has := s.added != nil
	s.mu.Unlock()
	s.notifyAll(mcp.MethodNotificationToolsListChanged, "")
	if has {
		return text("Added the tool named added."), nil
	}
	return text("Removed the tool named added."), nil
}
