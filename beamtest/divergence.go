package beamtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// An action is something that a run did: it asked, ended a step, slept, yielded an event,
// or ended.
type action struct {
	kind runlog.Kind
	key  string // of a question, a step or a sleep
	text string // in full, to compare
	// goroutine did it; empty for the generator itself.
	goroutine string
}

// A history is what a run did, of its log. Times and responses are left out.
type history struct {
	actions []action
	// crashes says of each entry after what a crash is that follows it: an entry that starts
	// the run, is a call, or settles one. It is empty for others.
	crashes []string
	panic   string // what the run ended with, and where; empty if it didn't panic

	runlog.Rest
	keys map[uint64]string // of questions and sleeps by their ordinals
}

func newHistory(entries []runlog.Entry) (*history, error) {
	h := &history{keys: make(map[uint64]string), Rest: func(runlog.Entry) error { return nil }}
	for _, e := range entries {
		h.crashes = append(h.crashes, "")
		if err := e.Visit(h); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *history) act(e runlog.Entry, key, text string) {
	h.actions = append(h.actions, action{e.Kind, key, text, e.Goroutine})
}

// crash says after what a crash is that follows the current entry.
func (h *history) crash(format string, args ...any) error {
	h.crashes[len(h.crashes)-1] = fmt.Sprintf(format, args...)
	return nil
}

func (h *history) Started(runlog.Entry, runlog.Started) error { return h.crash("it had started") }

func (h *history) Asked(e runlog.Entry, q runlog.Asked) error {
	h.keys[e.Seq] = q.Key
	h.act(e, q.Key, questionText(q.Question))
	return h.crash("it had asked %q", q.Key)
}

func (h *history) Answered(_ runlog.Entry, a runlog.Answered) error {
	return h.crash("%q had been answered", h.keys[a.AskSeq])
}

func (h *history) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error {
	if w.Reason == runlog.RunEnded {
		return nil
	}
	return h.crash("%q had ended without an answer", h.keys[w.AskSeq])
}

func (h *history) Stepped(e runlog.Entry, s runlog.Stepped) error {
	h.act(e, s.Key, stepText(s.Value, s.Error))
	return h.crash("step %q was recorded", s.Key)
}

func (h *history) Sleeping(e runlog.Entry, s runlog.Sleeping) error {
	h.keys[e.Seq] = s.Key
	h.act(e, s.Key, "")
	return h.crash("the sleep %q had begun", s.Key)
}

func (h *history) Woken(_ runlog.Entry, w runlog.Woken) error {
	return h.crash("the sleep %q had ended", h.keys[w.SleepSeq])
}

func (h *history) Finished(e runlog.Entry, f runlog.Finished) error {
	h.act(e, "", endText(f))
	h.panic = f.Panic
	return nil
}

func (h *history) Event(e runlog.Entry) error {
	h.act(e, "", string(e.Data))
	return nil
}

// questionText returns a question as JSON, and what it shows with its content as text,
// which would be base64 in JSON.
func questionText(q *askdata.Question) string {
	asked := *q
	asked.Evidence = nil
	text := encode(&asked)
	for _, artifact := range q.Evidence {
		shown := *artifact
		shown.Body = nil
		text += fmt.Sprintf(" showing %s %q", encode(shown), artifact.Body)
	}
	return text
}

// encode returns the JSON of a value that was decoded from JSON.
func encode(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
	return strings.TrimSpace(b.String())
}

func stepText(value json.RawMessage, failure string) string {
	if failure != "" {
		return "the error " + failure
	}
	return string(value)
}

func endText(f runlog.Finished) string {
	if f.Status == runlog.Completed {
		return "returned " + string(f.Result)
	}
	return "failed: " + f.Error
}

func (a action) String() string {
	const most = 1000
	text := a.text
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	switch {
	case a.kind == runlog.KindAsked:
		return fmt.Sprintf("it asks %q: %s", a.key, text)
	case a.kind == runlog.KindStepped:
		return fmt.Sprintf("step %q records %s", a.key, text)
	case a.kind == runlog.KindSleeping:
		return fmt.Sprintf("it begins the sleep %q", a.key)
	case a.kind == runlog.KindFinished:
		return "it " + text
	case a.kind == "":
		return "nothing"
	}
	return fmt.Sprintf("it yields a %s event: %s", a.kind, text)
}

// A divergence says how a run differs from the run without a crash.
type divergence struct {
	photon, crash string
	got, want     action
	panic         string // that the run ended with; empty for none
}

func (d *divergence) Error() string {
	got, want := d.got, d.want
	got.text, want.text = cutCommonPrefix(got.text, want.text)
	said := fmt.Sprintf("photon %s is not deterministic. After a crash when %s:\n\t%v\nwithout a crash:\n\t%v\n"+
		"Code outside of generators.Step runs again after a crash and must do the same again: read clocks, files and random "+
		"numbers in steps, and use nothing of a step but its return value.", d.photon, d.crash, got, want)
	if d.panic != "" {
		said += "\n" + d.panic
	}
	return said
}

// cutCommonPrefix shortens two long texts so that their first difference is near the
// beginning of what is left.
func cutCommonPrefix(a, b string) (string, string) {
	const most, before = 500, 200
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if n <= most || n == len(a) && n == len(b) {
		return a, b
	}
	cut := func(s string) string { return "… " + strings.ToValidUTF8(s[n-before:], "") }
	return cut(a), cut(b)
}

// compare returns the first difference of a run to the run without a crash, or nil.
func (r *replayer) compare(ctx context.Context, got, want []action) *divergence {
	if r.concurrent {
		got, want = sortActions(got, want)
	}
	for i := range max(len(got), len(want)) {
		d := divergence{got: actionAt(got, i), want: actionAt(want, i)}
		switch {
		case d.got.isSame(d.want, r.concurrent):
		case d.got.isSameStep(d.want) && r.varies(ctx, d.want.key):
			return nil
		default:
			return &d
		}
	}
	return nil
}

// isSame reports whether two actions are the same. In a concurrent run, which goroutine did
// them may differ.
func (a action) isSame(b action, concurrent bool) bool {
	if concurrent {
		a.goroutine, b.goroutine = "", ""
	}
	return a == b
}

func actionAt(history []action, i int) action {
	if i < len(history) {
		return history[i]
	}
	return action{}
}

// isSameStep reports whether two actions end the same step.
func (a action) isSameStep(b action) bool {
	return a.kind == runlog.KindStepped && b.kind == a.kind && b.key == a.key
}

// sortActions returns what two runs did in an order that doesn't depend on that of
// goroutines. The actions of each goroutine stay in their order, if it did the same in both
// runs. Goroutines may also have shared the work in another way: theirs are sorted. Progress
// is left out, because it may depend on the time.
func sortActions(got, want []action) (sortedGot, sortedWant []action) {
	byGoroutine := func(history []action) map[string][]action {
		of := make(map[string][]action)
		for _, a := range history {
			if a.kind != "progress" {
				of[a.goroutine] = append(of[a.goroutine], a)
			}
		}
		return of
	}
	compareActions := func(a, b action) int {
		return cmp.Or(strings.Compare(string(a.kind), string(b.kind)), strings.Compare(a.key, b.key), strings.Compare(a.text, b.text))
	}
	gotOf, wantOf := byGoroutine(got), byGoroutine(want)
	var movedGot, movedWant []action
	for _, name := range slices.Sorted(maps.Keys(wantOf)) {
		g, w := gotOf[name], wantOf[name]
		delete(gotOf, name)
		same := func(a, b action) bool { return compareActions(a, b) == 0 }
		if slices.EqualFunc(slices.SortedFunc(slices.Values(g), compareActions), slices.SortedFunc(slices.Values(w), compareActions), same) {
			sortedGot, sortedWant = append(sortedGot, g...), append(sortedWant, w...)
			continue
		}
		movedGot, movedWant = append(movedGot, g...), append(movedWant, w...)
	}
	for _, g := range gotOf {
		movedGot = append(movedGot, g...)
	}
	slices.SortFunc(movedGot, compareActions)
	slices.SortFunc(movedWant, compareActions)
	return append(sortedGot, movedGot...), append(sortedWant, movedWant...)
}

// maxTrials is how often a photon is run without a crash to learn whether a step's value
// varies.
const maxTrials = 5

// varies reports whether the value of a step is different in several runs without a
// crash.
func (r *replayer) varies(ctx context.Context, step string) bool {
	for range maxTrials {
		values := r.recorded[step]
		if slices.ContainsFunc(values, func(v string) bool { return v != values[0] }) {
			return true
		}
		again := &runner{photon: r.photon, args: r.args, script: r.script, outcome: newOutcome()}
		if again.run(ctx) != nil {
			return false
		}
		r.noteSteps(again.outcome)
	}
	return false
}
