package term

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/internal/term/render"
)

// A Screen writes lines for a person, and in a terminal a status line below them that is
// replaced as it changes. It is safe for concurrent use.
type Screen struct {
	w     io.Writer
	width func() int
	live  bool // has a status line
	style render.Styles

	mu       sync.Mutex
	out      bytes.Buffer // not written yet
	status   func(width int) string
	drawn    int // columns of the status line on the screen
	lastDraw time.Time
	held     bool // a form has the terminal
	open     bool // the last line written has no end
	stop     chan struct{}
}

// redrawInterval is how often the status line changes at most; tickInterval how often it
// changes by itself.
const (
	redrawInterval = 50 * time.Millisecond
	tickInterval   = 100 * time.Millisecond
)

// NewScreen returns the screen of a terminal. The caller closes it.
func NewScreen(t *Terminal) *Screen {
	s := newScreen(t)
	if s.live {
		go s.tick()
	}
	return s
}

// newScreen returns a screen whose status line changes only when it is flushed.
func newScreen(t *Terminal) *Screen {
	return &Screen{w: t.Err, width: t.Width, live: t.live(), style: render.Styles(t.Color), stop: make(chan struct{})}
}

func (s *Screen) tick() {
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.Flush()
		}
	}
}

// Print adds text, which ends with a line feed, above the status line. It is written by
// the next Flush. Callers have cleaned the text.
func (s *Screen) Print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLine()
	s.out.WriteString(text)
}

// Stream continues the last text that was streamed.
func (s *Screen) Stream(text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.WriteString(text)
	s.open = !strings.HasSuffix(text, "\n")
}

func (s *Screen) endLine() {
	if s.open {
		s.out.WriteByte('\n')
		s.open = false
	}
}

// SetStatus sets what draws the status line; nil removes the line.
func (s *Screen) SetStatus(draw func(width int) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = draw
}

// change changes what the status line shows.
func (s *Screen) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// redraw writes what was printed, and draws the status line.
func (s *Screen) redraw() { s.change(func() { s.flush(true) }) }

// Flush writes what was printed, and draws the status line unless that was done just
// before.
func (s *Screen) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(false)
}

func (s *Screen) flush(force bool) {
	due := force || time.Since(s.lastDraw) >= redrawInterval
	if s.held || s.out.Len() == 0 && (!s.live || !due) {
		return
	}
	var b bytes.Buffer
	if s.out.Len() > 0 || due {
		b.WriteString(s.erase())
	}
	b.Write(s.out.Bytes())
	s.out.Reset()
	if s.live && s.status != nil && !s.open {
		b.WriteString(s.draw())
	}
	if b.Len() > 0 {
		_, _ = s.w.Write(b.Bytes()) // nobody is left to be told that the terminal is gone
	}
	s.lastDraw = time.Now()
}

// draw returns the status line.
func (s *Screen) draw() string {
	width := max(s.width()-1, 1)
	line := ansi.Truncate(s.status(width), width, "")
	s.drawn = ansi.StringWidth(line)
	return line
}

// erase returns what removes the status line. A terminal that has become narrower has
// wrapped it.
func (s *Screen) erase() string {
	if s.drawn == 0 {
		return ""
	}
	rows := (s.drawn - 1) / max(s.width(), 1)
	s.drawn = 0
	up := ""
	if rows > 0 {
		up = ansi.CursorUp(rows)
	}
	return "\r" + up + "\x1b[J"
}

// Hold writes what was printed, removes the status line and writes nothing until Release
// is called: something else uses the terminal.
func (s *Screen) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		return
	}
	s.endLine()
	status := s.status
	s.status = nil
	s.flush(true)
	s.status, s.held = status, true
}

// Release ends Hold, and writes what was printed meanwhile.
func (s *Screen) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	s.flush(true)
}

// Close writes what was printed and removes the status line.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stop:
		return
	default:
		close(s.stop)
	}
	s.held, s.status = false, nil
	s.endLine()
	s.flush(true)
}
