package client

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
)

// The limits of what is kept of a child's stderr. The rest is read and dropped, so that
// the child never waits for it.
const (
	maxStderrLine   = 1 << 10 // bytes of a line
	maxStderrBurst  = 100     // lines
	stderrPerSecond = 10      // lines, beyond a burst
)

// readStderr passes lines on to handle until the end of r. It says how many it dropped
// because there were too many.
func readStderr(r io.ReadCloser, handle func(line string)) {
	defer r.Close()
	in := bufio.NewReaderSize(r, maxStderrLine)
	budget := stderrBudget{lines: maxStderrBurst, at: time.Now()}
	isRest := false // of a line that was too long
	for {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 && !isRest {
			budget.spend(part, handle)
		}
		isRest = err == bufio.ErrBufferFull
		if err != nil && !isRest {
			budget.tellDropped(handle)
			return
		}
	}
}

// A stderrBudget limits the rate of lines.
type stderrBudget struct {
	lines   float64
	at      time.Time
	dropped int
}

func (b *stderrBudget) spend(line []byte, handle func(string)) {
	now := time.Now()
	b.lines = min(maxStderrBurst, b.lines+now.Sub(b.at).Seconds()*stderrPerSecond)
	b.at = now
	if b.lines < 1 {
		b.dropped++
		return
	}
	b.lines--
	b.tellDropped(handle)
	if text := strings.TrimSpace(cleantext.Text(string(line))); text != "" {
		handle(humanize.TruncateBytes(text, maxStderrLine, "…")) // cleaning makes it longer
	}
}

func (b *stderrBudget) tellDropped(handle func(string)) {
	if b.dropped > 0 {
		handle(fmt.Sprintf("(%d lines were dropped)", b.dropped))
		b.dropped = 0
	}
}
