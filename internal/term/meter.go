package term

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/term/render"
)

// A meter knows how far a run has come, how fast it is, and how long it still takes.
type meter struct {
	latest  *generators.ProgressEvent // nil if none has come
	at      time.Time
	first   float64 // done when the progress began
	began   time.Time
	printed int // the tenth, or the text, that was printed last
	label   string
}

// minRateTime is how long the progress is watched before its rate means something.
const minRateTime = time.Second

// update records progress. It reports whether that is worth a line where nothing is
// redrawn: there is another text, or another tenth is done.
func (m *meter) update(e *generators.ProgressEvent, at time.Time) bool {
	if m.latest == nil || e.Done < m.latest.Done || e.Total != m.latest.Total {
		m.first, m.began, m.printed, m.label = e.Done, at, -1, ""
	}
	m.latest, m.at = e, at
	tenth := int(m.fraction() * 10)
	if tenth == m.printed && (e.Total > 0 || e.Text == m.label) {
		return false
	}
	m.printed, m.label = tenth, e.Text
	return true
}

// fraction returns what part is done, 0 to 1.
func (m *meter) fraction() float64 {
	if m.latest.Total <= 0 {
		return 0
	}
	return min(max(m.latest.Done/m.latest.Total, 0), 1)
}

// rate returns the rate per second, or 0 if it isn't known.
func (m *meter) rate() float64 {
	elapsed := m.at.Sub(m.began)
	if elapsed < minRateTime || m.latest.Done <= m.first {
		return 0
	}
	return (m.latest.Done - m.first) / elapsed.Seconds()
}

// left returns how long the rest takes at that rate.
func (m *meter) left() (time.Duration, bool) {
	rate := m.rate()
	if rate == 0 || m.latest.Total <= m.latest.Done {
		return 0, false
	}
	seconds := (m.latest.Total - m.latest.Done) / rate
	if seconds > 1000*3600 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// numbers returns what is done, the rate and the time left, in that order.
func (m *meter) numbers() []string {
	var parts []string
	if m.latest.Total > 0 {
		parts = append(parts, fmt.Sprintf("%3d%%", int(math.Floor(m.fraction()*100))))
	} else if m.latest.Done > 0 {
		parts = append(parts, formatCount(m.latest.Done))
	}
	if rate := m.rate(); rate > 0 {
		parts = append(parts, formatCount(rate)+"/s")
	}
	if left, ok := m.left(); ok {
		parts = append(parts, humanize.Clock(left)+" left")
	}
	return parts
}

// text returns the progress as a line of text.
func (m *meter) text() string {
	parts := m.numbers()
	if m.latest.Total > 0 {
		parts = append([]string{fmt.Sprintf("%s of %s", humanize.Number(m.latest.Done), humanize.Number(m.latest.Total))}, parts...)
	}
	return strings.TrimSpace(cmp.Or(m.latest.Text, "Progress") + ": " + strings.Join(parts, ", "))
}

// formatCount returns a number with few digits: "12", "3.4", "56k".
func formatCount(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.3gG", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3gM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.3gk", n/1e3)
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

// spinner are the frames of what shows that a run works.
var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// drawStatus draws the status line: the bar if there is progress, and the text.
func (v *View) drawStatus(width int) string {
	frame := v.style.Paint(render.Cyan, string(spinner[time.Now().UnixMilli()/100%int64(len(spinner))]))
	if v.meter.latest == nil || v.meter.latest.Total > 0 && v.meter.latest.Done >= v.meter.latest.Total {
		elapsed := v.style.Paint(render.Faint, humanize.Clock(time.Since(v.begun)))
		text := ansi.Truncate(cmp.Or(v.status, "Running"), max(width-10, 1), "…")
		return frame + " " + text + " " + elapsed
	}
	text := cmp.Or(v.meter.latest.Text, v.status)
	numbers := strings.Join(v.meter.numbers(), " · ")
	rest := width - 2 - ansi.StringWidth(numbers) - 1
	if v.meter.latest.Total <= 0 {
		return frame + " " + ansi.Truncate(text, max(rest, 1), "…") + " " + v.style.Paint(render.Faint, numbers)
	}
	columns := min(max(rest/3, 6), 30)
	text = ansi.Truncate(text, max(rest-columns-1, 0), "…")
	if text != "" {
		text += " "
	}
	return frame + " " + text + v.bar(columns) + " " + numbers
}

func (v *View) bar(columns int) string {
	filled := render.Bar(v.meter.fraction() * float64(columns))
	rest := strings.Repeat("░", max(columns-ansi.StringWidth(filled), 0))
	return v.style.Paint(render.Green, filled) + v.style.Paint(render.Faint, rest)
}
