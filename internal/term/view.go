package term

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term/render"
)

// A View shows the events of one run on a screen.
type View struct {
	screen *Screen
	style  render.Styles
	// Verbose also shows log lines of level debug.
	Verbose bool

	status  string // the latest, which the status line shows
	level   generators.Level
	pending bool // only the status line shows it so far
	meter   meter
	begun   time.Time
	// OnlyQuestions shows nothing but questions and their answers.
	OnlyQuestions bool
}

// NewView returns a view on a screen.
func NewView(screen *Screen) *View { return &View{screen: screen, style: screen.style} }

// Show shows entries, in order. Questions are shown by who asks them.
func (v *View) Show(batch []runlog.Entry) {
	for i := range batch {
		v.show(&batch[i])
	}
	v.screen.Flush()
}

func (v *View) show(e *runlog.Entry) {
	if v.begun.IsZero() {
		v.begun = e.Time
	}
	if err := e.Visit(viewEntries{v}); err != nil {
		v.line(v.style.Paint(render.Faint, cleantext.Line(err.Error())))
	}
}

func (v *View) line(text string) { v.screen.Print(text + "\n") }

// setStatus replaces the status. In a terminal the status line shows it until the next one
// comes.
func (v *View) setStatus(level generators.Level, text string) {
	v.commitStatus()
	v.screen.change(func() { v.level, v.status, v.pending = level, cleantext.Line(text), text != "" })
	if !v.screen.live {
		v.commitStatus()
	}
}

// commitStatus prints the status that only the status line shows.
func (v *View) commitStatus() {
	if v.pending {
		v.pending = false
		v.line(v.mark(v.level) + " " + v.status)
	}
}

// mark returns the sign of a level.
func (v *View) mark(l generators.Level) string {
	switch l {
	case generators.Success:
		return v.style.Paint(render.Green, "✓")
	case generators.Warning:
		return v.style.Paint(render.Yellow, "!")
	case generators.Error, generators.Critical, generators.Alert, generators.Emergency:
		return v.style.Paint(render.Red, "✗")
	}
	return v.style.Paint(render.Cyan, "•")
}

// logStyles are the styles of levels.
var logStyles = map[generators.Level]string{
	generators.Debug: render.Faint, generators.Info: render.Cyan, generators.Success: render.Green, generators.Notice: render.Blue, generators.Warning: render.Yellow,
	generators.Error: render.Red, generators.Critical: render.Bold + ";" + render.Red, generators.Alert: render.Bold + ";" + render.Red, generators.Emergency: render.Bold + ";" + render.Red,
}

func (v *View) showLog(event *generators.LogEvent, at time.Time) {
	if event.Level == generators.Debug && !v.Verbose {
		return
	}
	text, ok := event.Data.(string)
	if !ok {
		raw, err := json.Marshal(event.Data)
		if err != nil {
			raw = fmt.Append(nil, event.Data)
		}
		text = string(raw)
	}
	var logger string
	if event.Logger != "" {
		logger = cleantext.Line(event.Logger) + ": "
	}
	text = strings.ReplaceAll(strings.TrimRight(cleantext.Text(text), "\n"), "\n", "\n  ")
	v.line(v.style.Paint(render.Faint, at.Local().Format(time.TimeOnly)) + " " + v.style.Paint(logStyles[event.Level], fmt.Sprintf("%-7s", event.Level)) + " " + logger + text)
}

func (v *View) showProgress(event *generators.ProgressEvent, at time.Time) {
	event.Text = cleantext.Line(event.Text)
	worthALine := false
	v.screen.change(func() { worthALine = v.meter.update(event, at) })
	if worthALine && !v.screen.live {
		v.line(v.meter.text())
	}
}

func (v *View) artifacts() *render.Renderer {
	return &render.Renderer{Style: v.style, Width: max(v.screen.width(), 10)}
}
