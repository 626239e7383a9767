package ui

import (
	"cmp"
	"net/url"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/artifacts"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// ChatQuestionOptions say what the view in a chat offers for a question.
type ChatQuestionOptions struct {
	Accept   bool // it can be answered there
	Decline  bool // it can be declined and canceled there
	HasPages bool // the address of Beam's pages is known
	TooLarge bool // what the question shows is too large for a chat
}

// ChatQuestion renders an open question for the view in a chat. Errs and values are those
// of [AskForm].
func ChatQuestion(o engine.OpenAsk, c ChatQuestionOptions, errs []generators.FieldError, values url.Values) templ.Component {
	if o.Excluded {
		c.Accept, c.Decline, c.HasPages = false, false, false
	}
	return chatQuestion(newAskView(o, errs, values), c)
}

// chatPageReason says why a question is answered on Beam's page.
func chatPageReason(v *askView, c ChatQuestionOptions) string {
	switch {
	case v.Excluded:
		return v.ExcludedReason()
	case v.For != "":
		return "This is for " + v.For + ". Answer on Beam’s page, where you are signed in."
	case c.TooLarge:
		return "Answer on Beam’s page, which shows all of it."
	case v.view().onPage != "":
		return v.view().onPage
	case v.Question.UntilDone:
		return "Open the address on Beam’s page, and say there when you are done."
	case v.Question.Destructive:
		return "This can’t be undone. Answer on Beam’s page, where you are signed in."
	}
	return "Answer on Beam’s page."
}

// IsShownInChat reports whether the view in a chat shows an item of the timeline. Open
// questions are shown as such.
func IsShownInChat(i *timeline.Item) bool {
	switch i.Kind {
	case timeline.Start, timeline.Step, timeline.Unknown:
		return false
	case timeline.Asked:
		return i.Ask.State != timeline.Open
	case timeline.Log:
		return i.Level != generators.Debug
	}
	return true
}

// ChatLargeRow renders a row that is too large for a chat. The address is that of the
// run's page, or empty.
func ChatLargeRow(i *timeline.Item, address string) templ.Component {
	title := "This part"
	if i.Artifact != nil {
		title = cmp.Or(i.Artifact.Title, title)
	}
	return chatLargeRow(i.ID(), title, address)
}

// ChatState returns a run's state in words.
func ChatState(r *timeline.Run) string { return currentState(r) }

// ChatRenderingOf is [RenderingOf] for the view in a chat.
func ChatRenderingOf(o engine.OpenAsk) runlog.Rendering {
	return renderingOf(o, artifacts.IsWholeInline)
}
