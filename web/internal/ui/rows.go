package ui

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

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
