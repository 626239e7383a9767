package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// leaveCall ends a call that has waited for too long: as a task if it may
// become one, and otherwise by handing it off.
func (f *follower) leaveCall() (r reply, done bool) {
	if !f.mayBecomeTask {
		return f.handOffCall()
	}
	info, err := f.server.engine.Info(f.client.caller, f.runID)
	if err != nil || len(info.Asks) == 0 && info.Pause() == "" {
		return reply{}, false // the log's next entry says so
	}
	return f.becomeTask(), true
}

// handOffCall ends a call whose questions have been open, or whose run has been paused, for
// too long. Its result holds their addresses and a handle to resume the run. The run and
// its questions stay as they are. The call goes on if no question is open any more, or if
// there is no page.
func (f *follower) handOffCall() (r reply, done bool) {
	info, err := f.server.engine.Info(f.client.caller, f.runID)
	if err != nil || len(info.Asks) == 0 && info.Pause() == "" {
		return reply{}, false // the log's next entry says so
	}
	result, err := f.waitingResult(info)
	if err != nil {
		f.server.logger.Error("handing off a call", "run", f.runID, "err", err)
		f.restartWaitClock()
		return reply{}, false
	}
	f.keepRunResult()
	f.session.rememberHandle(f.runID)
	f.mu.Lock()
	f.handedOff = true
	f.mu.Unlock()
	f.withdrawRequests("it was not answered in time; it is open on Beam's page")
	return f.resultReply(result, ""), true
}

// keepRunResult keeps the run's result for the client that has the handle.
func (c *call) keepRunResult() {
	if err := c.server.engine.RetainAfterEnd(c.client.caller, c.runID, engine.MaxRetention); err != nil {
		c.server.logger.Error("retaining a run", "run", c.runID, "err", err)
	}
}

// repeatHandoff repeats the handoff for a client that resumes the call's stream, since
// the first result may not have arrived.
func (f *follower) repeatHandoff() (r reply, done bool) {
	f.mu.Lock()
	handedOff := f.handedOff
	if handedOff {
		f.askingStopped = false
	}
	f.mu.Unlock()
	if !handedOff {
		return reply{}, false
	}
	return f.handOffCall()
}

// withdrawRequests prevents further questions, and withdraws the open ones.
func (c *call) withdrawRequests(reason string) {
	c.mu.Lock()
	c.askingStopped = true
	open, out := slices.Clone(c.pending), c.sender
	c.mu.Unlock()
	for _, p := range open {
		_ = c.settleRequest(out, msg.Settlement{AskSeq: p.askSeq}, reason) // the client may be gone
	}
	c.sendMu.Lock() // wait until nothing is being sent
	defer c.sendMu.Unlock()
}

// metaWaitingRun is the member of a result's _meta that repeats its text for programs.
const metaWaitingRun = "io.github.photon-beam/waiting"

type (
	// A waitingRun says what a call that was handed off waits for.
	waitingRun struct {
		Tool  string       `json:"tool,omitempty"` // in lists
		Run   string       `json:"run"`
		Asks  []waitingAsk `json:"asks"`
		Pause string       `json:"pause,omitempty"` // why it does nothing although no question is open
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

// waitingResult returns the result of a call that was handed off. It is an error for a
// client that was promised structured content for every success.
func (c *call) waitingResult(info engine.Info) (*msg.ToolResult, error) {
	if c.asksInChat() {
		return c.chatResult(info), nil
	}
	waits, err := c.newWaitingRun(info)
	if err != nil {
		return nil, err
	}
	from := "the user"
	if isForOthers([]waitingRun{waits}) {
		from = "somebody else"
	}
	text := fmt.Sprintf("%s is waiting for an answer from %s.\n\n%s\n%s Do not call %s again for this: that would start over.",
		msg.TitleOf(c.photon), from, describeQuestions(waits.Asks), c.howToAnswer(waits), c.photon.Name())
	if waits.Pause != "" {
		text = fmt.Sprintf("%s has not finished. %s.\n\n%s Do not call %s again for this: that would start over.",
			msg.TitleOf(c.photon), waits.Pause, howToWait(waits), c.photon.Name())
	}
	result := &msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(text)}}
	result.Meta = map[string]any{metaWaitingRun: waits}
	result.IsError = !c.isResume && c.session.guaranteedOutputSchema(c.photon, c.client) != nil
	return result, nil
}

// newWaitingRun returns what a run waits for, with the addresses of its open questions.
func (c *call) newWaitingRun(info engine.Info) (waitingRun, error) {
	run := waitingRun{Run: info.ID, Asks: []waitingAsk{}, Pause: info.Pause()}
	for _, a := range info.Asks {
		address, err := c.askPageURL(a.ID)
		if err != nil && !c.asksInChat() {
			return run, err
		}
		w := waitingAsk{ID: a.ID, Message: msg.LineSaidBy(a.Question, info.Photon), URL: address, Lost: a.Lost, notes: a.Notes(), shown: msg.EvidenceTitles(a.Question)}
		if a.Excluded {
			w.For = a.For
		}
		run.Asks = append(run.Asks, w)
	}
	return run, nil
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

// howToAnswer tells a model how the user answers the questions of runs, and how it goes
// on then.
func (c *call) howToAnswer(runs ...waitingRun) string {
	addresses := "this address"
	if len(runs) > 1 || len(runs[0].Asks) > 1 {
		addresses = "these addresses"
	}
	text := "Give the user " + addresses + ". "
	if isForOthers(runs) {
		text = "Tell the user who is to answer, and give them " + addresses + " to pass on. "
	}
	if c.server.signInHint != "" {
		text += c.server.signInHint + " "
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
	return fmt.Sprintf("The user need not do anything for this call itself. When the user asks for the result later, call the tool %s with %s, and not before. "+
		"If the user no longer wants the result, call %s instead.", ResumeTool, handleArguments(runs), CancelTool)
}

// handleArguments returns the arguments with which Beam's tools are called for runs.
func handleArguments(runs []waitingRun) string {
	if len(runs) == 1 {
		return fmt.Sprintf(`{"run": %q}`, runs[0].Run)
	}
	return `{"run": HANDLE}`
}
