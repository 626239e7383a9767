package jetstream

import (
	"errors"
	"fmt"
	"os"

	"github.com/photon-beam/beam/internal/humanize"
)

// A Report describes what can be read of a log.
type Report struct {
	// Damage is why the log can't be opened: [ErrCorrupt], with the first
	// damaged place. It is nil if the log is intact.
	Damage error
	// Messages is the number of messages that can be read, and Runs the number
	// of runs that they belong to.
	Messages, Runs int
	// Truncated maps runs with missing entries to the first missing ordinal.
	Truncated map[string]uint64
	// Headless lists the runs whose first entries are missing.
	Headless []string
	// TornBytes is the size of an incomplete message at the end, as a crash
	// leaves it.
	TornBytes int64
	// DamagedDir is the folder to which a recovery moved the damaged log.
	DamagedDir string
}

// Summary describes for people how much can be read.
func (r Report) Summary() string {
	text := fmt.Sprintf("%s of %s can be read", humanize.Count(r.Messages, "message"), humanize.Count(r.Runs, "run"))
	if n := len(r.Truncated); n > 0 {
		text += fmt.Sprintf(", %s only in part", humanize.Count(n, "run"))
	}
	if n := len(r.Headless); n > 0 {
		text += fmt.Sprintf("; the beginning of %s is missing", humanize.Count(n, "other run"))
	}
	return text
}

// Check reads a log's folder without changing it. No process may have the log
// open. The error is [ErrNewerFormat] or the file system's; damage is in the
// report.
func Check(dir string) (Report, error) {
	if _, err := os.Stat(dir); err != nil {
		return Report{}, err
	}
	s, err := inspectFolder(dir)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return Report{}, err
	}
	report, readErr := salvage(dir, s, func(messageHead) error { return nil })
	report.Damage, report.TornBytes = err, s.index.tornBytes()
	return report, readErr
}

// addReadableCount adds to an error about damage how much can be read.
func addReadableCount(dir string, state folderState, damage error) error {
	if !errors.Is(damage, ErrCorrupt) {
		return damage
	}
	r, err := salvage(dir, state, func(messageHead) error { return nil })
	if err != nil {
		return damage
	}
	return fmt.Errorf("%w; %s", damage, r.Summary())
}
