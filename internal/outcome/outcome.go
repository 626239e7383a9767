// Package outcome says how each surface tells of a run's end: one table has the pages'
// label, what a person and a model read, the statuses of MCP tasks, and the exit status
// of a command.
package outcome

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// An Outcome is a way in which a run ends.
type Outcome struct {
	Status runlog.FinishStatus
	Reason runlog.UnansweredReason // of an unanswered run

	// Label names the outcome on pages.
	Label string
	// IsError reports whether the call has no result (MCP, CallToolResult.isError).
	IsError bool
	// TaskStatus is the status of a task of MCP 2025-11-25, and ExtensionStatus that of a
	// task of 2026-07-28, whose result says the rest. A task that tasks/cancel has stopped
	// is cancelled instead.
	TaskStatus, ExtensionStatus string
	// ExitStatus is that of a command that followed the run.
	ExitStatus int

	// person and model are what people and models read; see fill.
	person, model string
}

// The statuses of tasks (MCP, Tasks).
const (
	taskCompleted = "completed"
	taskFailed    = "failed"
)

// outcomes lists every way in which a run ends once.
var outcomes = []Outcome{
	{
		Status: runlog.Completed, Label: "completed",
		TaskStatus: taskCompleted, ExtensionStatus: taskCompleted,
	}, {
		Status: runlog.Failed, Label: "failed", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskCompleted, ExitStatus: 1,
		person: "{error}", model: "{error}",
	}, {
		Status: runlog.Interrupted, Label: "interrupted", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskFailed, ExitStatus: 1,
		person: "{error}", model: "{error}",
	}, {
		Status: runlog.Stopped, Label: "stopped", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskCompleted, ExitStatus: 130,
		person: "Stopped{by}{where}{detail}.",
		model:  "{who} stopped the run{where}{detail}. Don't call the tool again unless the user wants to.",
	}, {
		Status: runlog.Unanswered, Reason: runlog.ReasonDeclined, Label: "declined", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskCompleted, ExitStatus: 3,
		person: "{question} was declined{by}.",
		model:  "{who} declined {question}. Don't ask again unless the user wants to.",
	}, {
		Status: runlog.Unanswered, Reason: runlog.ReasonDismissed, Label: "dismissed", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskCompleted, ExitStatus: 3,
		person: "{question} was dismissed{by}.",
		model:  "{who} dismissed {question} without an answer. Ask the user how to go on before you call the tool again.",
	}, {
		Status: runlog.Unanswered, Reason: runlog.ReasonExpired, Label: "not answered in time", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskCompleted, ExitStatus: 5,
		person: "{question} was not answered in time.",
		model:  "Nobody answered {question} in time. Tell the user, and call the tool again when the user is ready to answer.",
	}, {
		Status: runlog.Unanswered, Reason: runlog.ReasonUnreachable, Label: "nobody to ask", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskCompleted, ExitStatus: 4,
		person: "Nobody could be asked {question}{detail}.",
		model:  "Nobody could be asked {question}{detail}. Tell the user: another call from here would end the same way.",
	}, {
		Status: runlog.Unanswered, Reason: runlog.ReasonInvalid, Label: "no valid answer", IsError: true,
		TaskStatus: taskFailed, ExtensionStatus: taskCompleted, ExitStatus: 4,
		person: "{question} got no valid answer{detail}.",
		model:  "{question} got no valid answer{detail}. Tell the user what was wrong before you call the tool again.",
	},
}

// Reasons returns the reasons of unanswered runs.
func Reasons() (reasons []runlog.UnansweredReason) {
	for _, o := range outcomes {
		if o.Reason != "" {
			reasons = append(reasons, o.Reason)
		}
	}
	return reasons
}

// Of returns the outcome of a run that has ended.
func Of(f *runlog.Finished) *Outcome { return Find(f.Status, f.Reason()) }

// Find returns an outcome. One that this version doesn't know is a failure.
func Find(status runlog.FinishStatus, reason runlog.UnansweredReason) *Outcome {
	for i := range outcomes {
		if o := &outcomes[i]; o.Status == status && o.Reason == reason {
			return o
		}
	}
	return Find(runlog.Failed, "")
}

// OfAnswer returns what people read of a question that was declined or dismissed: MCP calls
// the latter "cancel", and every surface "dismissed".
func OfAnswer(action askdata.Action) string {
	if action == askdata.Decline {
		return Find(runlog.Unanswered, runlog.ReasonDeclined).Label
	}
	return Find(runlog.Unanswered, runlog.ReasonDismissed).Label
}

// TextForPeople says what came of a run that has no result, beyond the outcome's label.
// It is empty if there is nothing more to say.
func TextForPeople(f *runlog.Finished) string {
	text := fill(Of(f).person, f)
	switch {
	case text == "Stopped.":
		return ""
	case f.Ask != nil && f.Error != "":
		text += " (" + f.Error + ")"
	}
	return text
}

// TextForModel says what came of a run that has no result: who did what, with the
// question, and what to do now.
func TextForModel(f *runlog.Finished) string {
	text := fill(Of(f).model, f)
	if f.Ask != nil && f.Error != "" {
		text += "\nThe tool added: " + f.Error
	}
	return text
}

// fill fills in a sentence of the table: {error} is what the tool or Beam said, {who} and
// {by} who stopped the run or settled the question, {where} where the run was stopped,
// {question} the message of the question in quotes, and {detail} what went wrong.
func fill(sentence string, f *runlog.Finished) string {
	switch sentence {
	case "": // the end of a run that has a result
		return ""
	case "{error}":
		return f.Error
	}
	who, by, question, detail := "the user", "", "", f.Error
	if f.Status == runlog.Stopped {
		who, detail = describeStop(f)
	}
	if f.By != "" {
		who, by = f.By, " by "+f.By
	}
	if a := f.Ask; a != nil {
		question, detail = quoteMessage(a.Message), a.Detail
	}
	if detail = strings.TrimSuffix(detail, "."); detail != "" {
		detail = ": " + detail
	}
	return upperFirst(strings.NewReplacer("{who}", who, "{by}", by, "{where}", describeWhere(f.Surface),
		"{question}", question, "{detail}", detail).Replace(sentence))
}

// describeWhere says where a run was stopped.
func describeWhere(surface string) string {
	if client, ok := strings.CutPrefix(surface, "app "); ok {
		return " through " + client + "'s app"
	}
	return stoppedWhere[surface]
}

// stoppedWhere says where a run was stopped, by surface.
var stoppedWhere = map[string]string{
	"browser": " on Beam's page", "http": " over HTTP", "terminal": " at the terminal", "mcp": " over MCP", "mcp task": " over MCP",
}

// describeStop says who or what stopped a run, and why if that was Beam.
func describeStop(f *runlog.Finished) (who, detail string) {
	switch {
	case f.Surface == "mcp", f.Surface == "mcp task":
		return "the client", ""
	case f.Surface != "":
		return "the user", ""
	case f.Error == "stopped": // in the logs of earlier versions
		return "somebody", ""
	}
	return "Beam", f.Error
}

// maxMessage is how much of a question's message is quoted, in characters.
const maxMessage = 300

// quoteMessage returns the message of a question in quotes, on one line.
func quoteMessage(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if message == "" {
		return "the question"
	}
	return `"` + humanize.Truncate(message, maxMessage) + `"`
}

// upperFirst begins a sentence with a capital letter.
func upperFirst(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}
