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

	"github.com/photon-beam/beam/ask"
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

// newHistory returns what a run did, of its log. Times and responses are left out.
func newHistory(entries []runlog.Entry) (history []action, err error) {
	for _, e := range entries {
		var a action
		switch {
		case e.Kind == runlog.KindAsked:
			a, err = newAction(e, func(q runlog.Asked) (key, text string) { return q.Key, questionText(q.Question) })
		case e.Kind == runlog.KindStepped:
			a, err = newAction(e, func(s runlog.Stepped) (key, text string) { return s.Key, stepText(s.Value, s.Error) })
		case e.Kind == runlog.KindSleeping:
			a, err = newAction(e, func(s runlog.Sleeping) (key, text string) { return s.Key, "" })
		case e.Kind == runlog.KindFinished:
			a, err = newAction(e, func(f runlog.Finished) (key, text string) { return "", endText(f) })
		case e.Kind.IsEvent():
			a = action{kind: e.Kind, text: string(e.Data)}
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		a.goroutine = e.Goroutine
		history = append(history, a)
	}
	return history, nil
}

func newAction[T any](e runlog.Entry, describe func(T) (key, text string)) (action, error) {
	data, err := runlog.Decode[T](e)
	if err != nil {
		return action{}, err
	}
	a := action{kind: e.Kind}
	a.key, a.text = describe(data)
	return a, nil
}

// questionText returns a question as JSON, and what it shows with its content as text,
// which would be base64 in JSON.
func questionText(q *ask.Question) string {
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
}

func (d *divergence) Error() string {
	got, want := d.got, d.want
	got.text, want.text = cutCommonPrefix(got.text, want.text)
	return fmt.Sprintf("photon %s is not deterministic. After a crash when %s:\n\t%v\nwithout a crash:\n\t%v\n"+
		"Code outside of generators.Step runs again after a crash and must do the same again: read clocks, files and random "+
		"numbers in steps, and use nothing of a step but its return value.", d.photon, d.crash, got, want)
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

// describeCrash says after which entry of a run the crash is: an entry that starts the
// run, is a call, or settles one. It returns "" for others.
func describeCrash(entries []runlog.Entry, last runlog.Entry) (string, error) {
	switch last.Kind {
	case runlog.KindStarted:
		return "it had started", nil
	case runlog.KindAsked:
		q, err := runlog.Decode[runlog.Asked](last)
		return fmt.Sprintf("it had asked %q", q.Key), err
	case runlog.KindStepped:
		s, err := runlog.Decode[runlog.Stepped](last)
		return fmt.Sprintf("step %q was recorded", s.Key), err
	case runlog.KindAnswered:
		a, err := runlog.Decode[runlog.Answered](last)
		return fmt.Sprintf("%q had been answered", keyOf(entries, a.AskSeq)), err
	case runlog.KindSleeping:
		s, err := runlog.Decode[runlog.Sleeping](last)
		return fmt.Sprintf("the sleep %q had begun", s.Key), err
	case runlog.KindWoken:
		s, err := runlog.Decode[runlog.Woken](last)
		return fmt.Sprintf("the sleep %q had ended", keyOf(entries, s.SleepSeq)), err
	case runlog.KindWithdrawn:
		w, err := runlog.Decode[runlog.Withdrawn](last)
		if w.Reason == runlog.RunEnded {
			return "", err
		}
		return fmt.Sprintf("%q had ended without an answer", keyOf(entries, w.AskSeq)), err
	}
	return "", nil
}

// keyOf returns the key of the question or the sleep with an ordinal.
func keyOf(entries []runlog.Entry, seq uint64) string {
	for _, e := range entries {
		if e.Seq == seq {
			call, _ := runlog.Decode[struct{ Key string }](e) // newHistory has decoded it
			return call.Key
		}
	}
	return ""
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
