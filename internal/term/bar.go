package term

import (
	"io"
	"time"

	"github.com/photon-beam/beam/generators"
)

// A Bar shows how far work has come, at the bottom of a terminal. Other lines that are written to
// the same stream meanwhile are written to the bar, which puts them above itself. It is safe for
// concurrent use.
type Bar struct {
	view *View
	text string // names the work
}

var _ io.Writer = (*Bar)(nil)

// NewBar returns a bar for stderr. It isn't shown until work has begun.
func NewBar(t *Terminal, text string) *Bar { return &Bar{view: NewView(newScreen(t)), text: text} }

// Progress returns the function that says how much is done. The bar is gone once all is. It returns
// nil if stderr can't be redrawn.
func (b *Bar) Progress() func(done, total int) {
	if !b.view.screen.live {
		return nil
	}
	return b.show
}

func (b *Bar) show(done, total int) {
	s := b.view.screen
	if done >= total {
		s.SetStatus(nil)
		s.redraw()
		return
	}
	event := &generators.ProgressEvent{Done: float64(done), Total: float64(total), Text: b.text}
	s.change(func() { b.view.meter.update(event, time.Now()) })
	s.SetStatus(b.view.drawStatus)
	s.Flush()
}

// Write writes lines above the bar.
func (b *Bar) Write(lines []byte) (int, error) {
	b.view.screen.Print(string(lines))
	b.view.screen.redraw()
	return len(lines), nil
}
