package jetstream

import (
	"errors"
	"fmt"
	"os"
)

// A Report says what can be read of a log.
type Report struct {
	// Damage is why the log can't be opened: [ErrCorrupt], with the first
	// place; nil if it can be.
	Damage error
	// Messages are those that can be read, of Runs runs.
	Messages, Runs int
	// Holed are runs of which something in the middle is missing, with the
	// first ordinal that is.
	Holed map[string]uint64
	// Headless are runs whose beginning is missing.
	Headless []string
	// Torn is how many bytes at the end are no message, as a crash leaves them.
	Torn int64
	// Aside is the folder that holds what was there before a recovery.
	Aside string
}

// Kept says how much can be read, for people.
func (r Report) Kept() string {
	text := fmt.Sprintf("%d messages of %d runs can be read", r.Messages, r.Runs)
	if n := len(r.Holed); n > 0 {
		text += fmt.Sprintf(", %d of them up to a hole", n)
	}
	if n := len(r.Headless); n > 0 {
		text += fmt.Sprintf(", and of %d other runs the beginning is missing", n)
	}
	return text
}

// Check reads a log's folder, which no process may have open, and changes
// nothing in it. The error is [ErrNewerFormat] or the file system's; damage is in the
// report.
func Check(dir string) (Report, error) {
	if _, err := os.Stat(dir); err != nil {
		return Report{}, err
	}
	s, err := inspect(dir)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return Report{}, err
	}
	report, readErr := salvage(dir, s, func(messageHead) error { return nil })
	report.Damage, report.Torn = err, s.survey.torn()
	return report, readErr
}

// explained adds to what is damaged how much can be read.
func explained(dir string, s state, damage error) error {
	if !errors.Is(damage, ErrCorrupt) {
		return damage
	}
	r, err := salvage(dir, s, func(messageHead) error { return nil })
	if err != nil {
		return damage
	}
	return fmt.Errorf("%w; %s", damage, r.Kept())
}
