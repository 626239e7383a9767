package ui

import (
	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// rowViews maps every kind of timeline item to its row's content.
var rowViews = map[timeline.Kind]func(*timeline.Run, *timeline.Item) templ.Component{
	timeline.Start:    func(_ *timeline.Run, i *timeline.Item) templ.Component { return startRow(i) },
	timeline.Status:   func(_ *timeline.Run, i *timeline.Item) templ.Component { return statusRow(i) },
	timeline.Toast:    func(_ *timeline.Run, i *timeline.Item) templ.Component { return statusRow(i) },
	timeline.Step:     func(_ *timeline.Run, i *timeline.Item) templ.Component { return stepRow(i) },
	timeline.Log:      func(_ *timeline.Run, i *timeline.Item) templ.Component { return logLine(i) },
	timeline.Chunk:    func(_ *timeline.Run, i *timeline.Item) templ.Component { return chunkRow(i) },
	timeline.Artifact: artifactView,
	timeline.Asked:    func(r *timeline.Run, i *timeline.Item) templ.Component { return askRow(r, i.Ask) },
	timeline.Reply:    func(_ *timeline.Run, i *timeline.Item) templ.Component { return replyRow(i) },
	timeline.Result:   func(r *timeline.Run, i *timeline.Item) templ.Component { return resultView(r, i) },
	timeline.Unknown:  func(_ *timeline.Run, i *timeline.Item) templ.Component { return unknownRow(i) },
}

func rowBody(r *timeline.Run, i *timeline.Item) templ.Component {
	if view, ok := rowViews[i.Kind]; ok {
		return view(r, i)
	}
	return unknownRow(i)
}

// rowClass returns the class for the state or level that a row shows.
func rowClass(i *timeline.Item) string {
	switch i.Kind {
	case timeline.Asked:
		return string(i.Ask.State)
	case timeline.Result:
		return string(i.State)
	case timeline.Status, timeline.Toast, timeline.Log, timeline.Step:
		return levelClass(i.Level)
	}
	return ""
}

type level = generators.Level

// levelClass returns the class of a level, and only ever one that the stylesheet knows.
func levelClass(l generators.Level) string {
	switch l {
	case generators.Debug, generators.Info, generators.Success, generators.Notice, generators.Warning, generators.Error:
		return string(l)
	case generators.Critical, generators.Alert, generators.Emergency:
		return "error"
	}
	return "info"
}

// levelLabel returns the word for a level that is otherwise shown by color and icon only.
func levelLabel(l generators.Level) string {
	switch levelClass(l) {
	case "success":
		return "Success"
	case "warning":
		return "Warning"
	case "error":
		return "Error"
	}
	return ""
}

// askSeq returns the ordinal of a question.
func askSeq(a *timeline.Ask) uint64 {
	_, seq, _ := runlog.SplitAskID(a.ID)
	return seq
}
