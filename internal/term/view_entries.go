package term

import (
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term/render"
)

// viewEntries visits the entries that a view shows. Those about questions are shown by who
// asks them.
type viewEntries struct{ view *View }

var _ runlog.Visitor = viewEntries{}

func (v viewEntries) Started(runlog.Entry, runlog.Started) error {
	v.view.screen.SetStatus(v.view.drawStatus)
	return nil
}

func (v viewEntries) Queued(_ runlog.Entry, q runlog.Queued) error {
	v.view.setStatus(generators.Info, q.Describe())
	return nil
}

func (v viewEntries) Asked(_ runlog.Entry, a runlog.Asked) error     { return v.showDiffers(a.Differs) }
func (v viewEntries) Stepped(_ runlog.Entry, s runlog.Stepped) error { return v.showDiffers(s.Differs) }

// showDiffers says why the run takes nothing more from an earlier one.
func (v viewEntries) showDiffers(text string) error {
	if text != "" {
		v.view.commitStatus()
		v.view.line(v.view.mark(generators.Warning) + " " + cleantext.Line(text))
	}
	return nil
}

func (v viewEntries) Sleeping(_ runlog.Entry, s runlog.Sleeping) error {
	_ = v.showDiffers(s.Differs)
	v.view.setStatus(generators.Info, s.Describe())
	return nil
}

func (v viewEntries) Repeated(_ runlog.Entry, r runlog.Repeated) error {
	if !v.view.OnlyQuestions {
		v.view.commitStatus()
		v.view.line(v.view.style.Paint(render.Faint, cleantext.Line(r.Describe())))
	}
	return nil
}

func (v viewEntries) Parked(_ runlog.Entry, p runlog.Parked) error {
	v.view.commitStatus()
	v.view.line(v.view.mark(generators.Warning) + " " + cleantext.Line(p.Describe()+". "+runlog.ParkedRemedy+"."))
	return nil
}

func (v viewEntries) Finished(_ runlog.Entry, f runlog.Finished) error {
	v.view.commitStatus()
	if f.Panic != "" && !v.view.OnlyQuestions {
		v.view.line(v.view.style.Paint(render.Faint, strings.TrimSpace(cleantext.Text(f.Panic))))
	}
	v.view.screen.SetStatus(nil)
	return nil
}

func (viewEntries) Claimed(runlog.Entry, runlog.Claimed) error     { return nil }
func (viewEntries) Answered(runlog.Entry, runlog.Answered) error   { return nil }
func (viewEntries) Withdrawn(runlog.Entry, runlog.Withdrawn) error { return nil }
func (viewEntries) Woken(runlog.Entry, runlog.Woken) error         { return nil }
func (viewEntries) Adopted(runlog.Entry, runlog.Adopted) error     { return nil }
func (viewEntries) Sampling(runlog.Entry, runlog.Sampling) error   { return nil }

func (v viewEntries) Event(e runlog.Entry) error {
	if v.view.OnlyQuestions {
		return nil
	}
	event, err := driver.Decode(string(e.Kind), e.Data)
	if err == nil {
		runlog.VisitEvent(event, viewEvents{v.view, e.Time})
	}
	return err
}

// viewEvents visits the events that a view shows. What comes after a status is below it.
type viewEvents struct {
	view *View
	at   time.Time
}

func (v viewEvents) Status(e *generators.StatusEvent)     { v.view.setStatus(e.Level, e.Text) }
func (v viewEvents) Progress(e *generators.ProgressEvent) { v.view.showProgress(e, v.at) }

func (v viewEvents) Log(e *generators.LogEvent) {
	v.view.commitStatus()
	v.view.showLog(e, v.at)
}

func (v viewEvents) Chunk(e *generators.ChunkEvent) {
	v.view.commitStatus()
	v.view.screen.Stream(cleantext.Text(e.Text))
}

func (v viewEvents) Toast(e *generators.ToastEvent) {
	v.view.commitStatus()
	v.view.line(v.view.mark(e.Level) + " " + cleantext.Line(e.Text))
}

func (v viewEvents) Artifact(e *generators.Artifact) {
	v.view.commitStatus()
	v.view.screen.Print(v.view.artifacts().Render(e))
}

func (v viewEvents) Unknown(e *driver.UnknownEvent) {
	v.view.commitStatus()
	v.view.line(v.view.style.Paint(render.Faint, cleantext.Line(e.Kind)) + " " + cleantext.Line(string(e.Data)))
}
