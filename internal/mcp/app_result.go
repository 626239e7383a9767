package mcp

import (
	"fmt"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// chatHandoff is the structured content of a call that was handed off to its view. It
// says all that the text says: some hosts give the model only one of them, and some give
// the view only one.
type chatHandoff struct {
	Run       string         `json:"beam_run"` // the view finds the run by it
	Status    string         `json:"status"`
	Tool      string         `json:"tool"`
	Questions []chatQuestion `json:"questions,omitempty"`
	Pause     string         `json:"pause,omitempty"`
	Shown     string         `json:"shown,omitempty"`
	Inbox     string         `json:"inbox,omitempty"`
	Next      string         `json:"next"`
}

type chatQuestion struct {
	Question string `json:"question"`
	Address  string `json:"address,omitempty"`
}

// chatResult returns the result of a call whose view asks the user. It is never an error:
// hosts show no view of those.
func (c *call) chatResult(info engine.Info) *msg.ToolResult {
	waits, _ := c.newWaitingRun(info) // without pages, the questions have no addresses
	h := chatHandoff{Run: info.ID, Status: "waiting", Tool: c.photon.Name(), Pause: waits.Pause, Next: c.chatNext(waits)}
	if base, err := c.session.pageBaseURL(); err == nil {
		h.Inbox = links.Base(base).Inbox()
	}
	text := fmt.Sprintf("%s is waiting for an answer from the user.\n\n%s", msg.TitleOf(c.photon), describeQuestions(waits.Asks))
	if waits.Pause != "" {
		text = fmt.Sprintf("%s has not finished. %s.\n", msg.TitleOf(c.photon), waits.Pause)
	} else {
		h.Shown = "The user sees the question in the chat, in the frame of this call, and answers there."
	}
	for _, a := range waits.Asks {
		h.Questions = append(h.Questions, chatQuestion{a.Message, a.URL})
	}
	if h.Shown != "" {
		text += h.Shown + "\n"
	}
	if h.Inbox != "" {
		text += "If there is no frame, the user can answer in Beam's inbox: " + h.Inbox + "\n"
		if c.server.signInHint != "" {
			text += c.server.signInHint + "\n"
		}
	}
	result := &msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(text + "\n" + h.Next)}, Structured: msg.Compacted(h)}
	result.Meta = map[string]any{metaWaitingRun: waits}
	return result
}

// chatNext tells a model how it goes on with a run that its view shows.
func (c *call) chatNext(run waitingRun) string {
	arguments := handleArguments([]waitingRun{run})
	next := fmt.Sprintf("Do not answer in the user's place. When the user says that they are done, call the tool %s with %s, and not before: it returns the result or the next question.", ResumeTool, arguments)
	if run.Pause != "" {
		next = fmt.Sprintf("The user need not do anything for this call itself. When the user asks for the result later, call the tool %s with %s, and not before.", ResumeTool, arguments)
	}
	return next + fmt.Sprintf(" If the user no longer wants the result, call %s instead. Do not call %s again for this: that would start over.", CancelTool, c.photon.Name())
}
