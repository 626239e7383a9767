package calls

import (
	"fmt"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A chatHandoff leaves the questions to the call's view.
type chatHandoff pageHandoff

var _ handoff = chatHandoff{}

func (chatHandoff) showsQuestions() bool { return true }

// chatContent is the structured content of a call that was handed off to its view. It
// says all that the text says: some hosts give the model only one of them, and some give
// the view only one.
type chatContent struct {
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

// result returns a result that is never an error: hosts show no view of those.
func (h chatHandoff) result(info engine.Info) (*msg.ToolResult, error) {
	waits, _ := newWaitingRun(info, h.run.pages) // without pages, the questions have no addresses
	content := chatContent{Run: waits.Run, Status: "waiting", Tool: h.run.photon.Name(), Pause: waits.Pause, Next: h.next(waits)}
	if base, err := h.run.pages(); err == nil {
		content.Inbox = links.Base(base).Inbox()
	}
	text := fmt.Sprintf("%s is waiting for an answer from the user.\n\n%s", msg.TitleOf(h.run.photon), describeQuestions(waits.Asks))
	if waits.Pause != "" {
		text = fmt.Sprintf("%s has not finished. %s.\n%s", msg.TitleOf(h.run.photon), waits.Pause, describeParked(waits))
	} else {
		content.Shown = "The user sees the question in the chat, in the frame of this call, and answers there."
	}
	for _, a := range waits.Asks {
		content.Questions = append(content.Questions, chatQuestion{a.Message, a.URL})
	}
	if content.Shown != "" {
		text += content.Shown + "\n"
	}
	if content.Inbox != "" && !waits.parked {
		text += "If there is no frame, the user can answer in Beam's inbox: " + content.Inbox + "\n"
		if h.signInHint != "" {
			text += h.signInHint + "\n"
		}
	}
	result := &msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(text + "\n" + content.Next)}, Structured: msg.Compacted(content)}
	result.Meta = map[string]any{metaWaitingRun: waits}
	return result, nil
}

// next tells a model how it goes on with a run that its view shows.
func (h chatHandoff) next(run waitingRun) string {
	arguments := handleArguments([]waitingRun{run})
	next := fmt.Sprintf("Do not answer in the user's place. When the user says that they are done, call the tool %s with %s, and not before: it returns the result or the next question.", ResumeTool, arguments)
	if run.Pause != "" {
		next = fmt.Sprintf("%s When the user asks for the result later, call the tool %s with %s, and not before.", whatUserDoes([]waitingRun{run}), ResumeTool, arguments)
	}
	return next + fmt.Sprintf(" If the user no longer wants the result, call %s instead. Do not call %s again for this: that would start over.", CancelTool, h.run.photon.Name())
}
