package calls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A handoff makes the result of a call that ends although its run goes on. It holds the
// addresses of the run's questions, and a handle.
type handoff interface {
	result(engine.Info) (*msg.ToolResult, error)
	// showsQuestions reports whether the call's view asks the questions that its client can't
	// be asked by elicitation.
	showsQuestions() bool
}

// A pageHandoff tells the model where the user answers.
type pageHandoff struct {
	run        *run
	signInHint string
	// isPromised reports whether the client was promised structured content for every
	// success, so that the result must be an error; nil if it wasn't.
	isPromised func() bool
}

// metaWaitingRun is the member of a result's _meta that repeats its text for programs.
const metaWaitingRun = "io.github.photon-beam/waiting"

type (
	// A waitingRun says what a call that was handed off waits for.
	waitingRun struct {
		Tool   string       `json:"tool,omitempty"` // in lists
		Run    string       `json:"run"`
		Asks   []waitingAsk `json:"asks"`
		Pause  string       `json:"pause,omitempty"` // why it does nothing, although no question can be answered
		parked bool
	}
	waitingAsk struct {
		ID      string `json:"id"`
		Message string `json:"message"`
		URL     string `json:"url"`
		For     string `json:"for,omitempty"`  // who is to answer, if the client's user may not
		Lost    bool   `json:"lost,omitempty"` // if Beam restarts
		shown   string // the titles of what the question shows
		notes   []string
	}
)

var _ handoff = pageHandoff{}

func (pageHandoff) showsQuestions() bool { return false }

func (h pageHandoff) result(info engine.Info) (*msg.ToolResult, error) {
	waits, err := newWaitingRun(info, h.run.pages)
	if err != nil {
		return nil, err
	}
	from := "the user"
	if isForOthers([]waitingRun{waits}) {
		from = "somebody else"
	}
	title, name := msg.TitleOf(h.run.photon), h.run.photon.Name()
	text := fmt.Sprintf("%s is waiting for an answer from %s.\n\n%s\n%s Do not call %s again for this: that would start over.",
		title, from, describeQuestions(waits.Asks), howToAnswer(h.signInHint, waits), name)
	if waits.Pause != "" {
		text = fmt.Sprintf("%s has not finished. %s.\n%s\n%s Do not call %s again for this: that would start over.",
			title, waits.Pause, describeParked(waits), howToWait(waits), name)
	}
	result := &msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(text)}}
	result.Meta = map[string]any{metaWaitingRun: waits}
	result.IsError = h.isPromised != nil && h.isPromised()
	return result, nil
}

// newWaitingRun returns what a run waits for, with the addresses of its open questions. If
// there are no pages, it also returns an error.
func newWaitingRun(info engine.Info, pages func() (string, error)) (waitingRun, error) {
	run := waitingRun{Run: info.ID, Asks: []waitingAsk{}, Pause: info.Pause(), parked: info.Parked != nil}
	if len(info.Asks) == 0 {
		return run, nil
	}
	base, err := pages()
	for _, a := range info.Asks {
		w := waitingAsk{ID: a.ID, Message: msg.LineSaidBy(a.Question, info.Photon), Lost: a.Lost, notes: a.Notes(), shown: msg.EvidenceTitles(a.Question)}
		if err == nil && !run.parked {
			w.URL = links.Base(base).Ask(a.ID)
		}
		if a.Excluded {
			w.For = a.For
		}
		run.Asks = append(run.Asks, w)
	}
	return run, err
}

// describeQuestions returns open questions and their addresses for a model.
func describeQuestions(asks []waitingAsk) string {
	var text strings.Builder
	for _, a := range asks {
		fmt.Fprintf(&text, "Question: %s\n", a.Message) // an address in it must not pass for Beam's
		if a.shown != "" {
			fmt.Fprintf(&text, "The page also shows what it is about: %s\n", a.shown)
		}
		if a.For != "" {
			fmt.Fprintf(&text, "The user may not answer it. It is for %s.\n", cleantext.Line(a.For))
		}
		if a.URL != "" {
			fmt.Fprintf(&text, "Answer at: %s\n", a.URL)
		}
		for _, note := range a.notes {
			text.WriteString(note + "\n")
		}
	}
	return text.String()
}

// describeParked returns the questions that nobody can answer, because the run is parked.
func describeParked(r waitingRun) string {
	if !r.parked || len(r.Asks) == 0 {
		return ""
	}
	return "Nobody can answer now:\n" + describeQuestions(r.Asks)
}

// howToAnswer tells a model how the user answers the questions of runs, and how it goes
// on then.
func howToAnswer(signInHint string, runs ...waitingRun) string {
	addresses := "this address"
	if len(runs) > 1 || len(runs[0].Asks) > 1 {
		addresses = "these addresses"
	}
	text := "Give the user " + addresses + ". "
	if isForOthers(runs) {
		text = "Tell the user who is to answer, and give them " + addresses + " to pass on. "
	}
	if signInHint != "" {
		text += signInHint + " "
	}
	return text + fmt.Sprintf("When the user says that they have answered, call the tool %s with %s, and not before: it returns the result or the next question. "+
		"If the user no longer wants the result, call %s instead.", ResumeTool, handleArguments(runs), CancelTool)
}

// isForOthers reports whether the user may answer none of the questions of runs.
func isForOthers(runs []waitingRun) bool {
	for _, r := range runs {
		if slices.ContainsFunc(r.Asks, func(a waitingAsk) bool { return a.For == "" }) {
			return false
		}
	}
	return true
}

// howToWait tells a model how it goes on with runs that are paused.
func howToWait(runs ...waitingRun) string {
	return fmt.Sprintf("%s When the user asks for the result later, call the tool %s with %s, and not before. "+
		"If the user no longer wants the result, call %s instead.", whatUserDoes(runs), ResumeTool, handleArguments(runs), CancelTool)
}

// whatUserDoes tells a model what the user of paused runs has to do.
func whatUserDoes(runs []waitingRun) string {
	if slices.ContainsFunc(runs, func(r waitingRun) bool { return !r.parked }) {
		return "The user need not do anything for this call itself."
	}
	return "Tell the user. The call goes on by itself, and nothing is lost, once the old version of the program is put back or one that fits is deployed."
}

// handleArguments returns the arguments with which Beam's tools are called for runs.
func handleArguments(runs []waitingRun) string {
	if len(runs) == 1 {
		return fmt.Sprintf(`{"run": %q}`, runs[0].Run)
	}
	return `{"run": HANDLE}`
}
