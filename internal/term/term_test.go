package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term/render"
)

// hostile is text that would change a terminal or the direction of what follows.
const hostile = "a\x1b[2Jb\x1b]0;owned\x07c\u202ed\u009b31me\rf\x08g"

// newTestView returns a view on a screen of a width; live makes it redraw a status line.
func newTestView(width int, live, color bool) (*View, *Screen, *bytes.Buffer) {
	var out bytes.Buffer
	s := &Screen{w: &out, width: func() int { return width }, live: live, style: render.Styles(color), stop: make(chan struct{})}
	return NewView(s), s, &out
}

func entry(t *testing.T, seq uint64, e generators.Event) runlog.Entry {
	t.Helper()
	kind, data, err := driver.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return runlog.Entry{Seq: seq, Time: time.Unix(int64(seq), 0), Kind: runlog.Kind(kind), Data: data}
}

// everyEvent is an event of each kind and an artifact of each type, with the given text in
// all places.
func everyEvent(text string) []generators.Event {
	return []generators.Event{
		generators.Status(text), generators.StatusAt(generators.Error, text), generators.Progress(1, 2, text), generators.Busy(text),
		generators.Log(generators.Warning, text), generators.LogTo(text, generators.Info, map[string]string{text: text}),
		generators.Chunk(text), generators.Toast(generators.Success, text),
		generators.Markdown(text, text+" &#27;[31m `"+text+"` ["+text+"](http://x/&#27;%1b) &#x202e;\n\n| "+text+" |\n|---|\n| &#27; |\n\n```go\n"+text+"\n```\n\n    "+text),
		generators.Code(text, "go", "// "+text), generators.Code(text, "unknown", text), generators.JSON(text, map[string]any{text: text}),
		generators.Diff(text, text, "b"), generators.TableOf(text, generators.Table{Columns: []string{text, "n"}, Rows: [][]any{{text, 1}, {nil, true}}}),
		generators.ChartOf(text, generators.Chart{Kind: generators.Bars, XTitle: text, Labels: []string{text}, Series: []generators.Series{{Name: text, Values: []float64{1}}}}),
		generators.ChartOf(text, generators.Chart{Kind: generators.Lines, Labels: []string{text, text}, Series: []generators.Series{{Name: text, Values: []float64{1, 2}}}}),
		generators.File(text, "application/octet-stream", []byte(text)), generators.Image(text, "image/png", []byte("\x89PNG"+text)), generators.Resource(text, "text/plain", []byte(text)),
	}
}

// Who agrees to an address says whether it was opened; declining is a third choice.
func TestAnAddressIsAgreedTo(t *testing.T) {
	q := &Question{Question: &askdata.Question{Kind: askdata.KindURL, Message: "Sign in?", URL: "https://good.example@192.0.2.7:8443/"}}
	for choice, want := range map[string]askdata.Action{consentYes: askdata.Accept, consentUnopened: askdata.Accept, consentNo: askdata.Decline, "": askdata.Decline} {
		v := newFieldValues(q, nil)
		v.consent = choice
		if a, err := v.answer(); err != nil || a.Action != want {
			t.Errorf("%q: %+v, %v", choice, a, err)
		}
	}
	for _, want := range []string{"The site is 192.0.2.7:8443.", "a number instead of a name", "unusual port"} {
		if text := strings.Join(strings.Fields(q.heading(false, 60)), " "); !strings.Contains(text, want) {
			t.Errorf("the question lacks %q: %s", want, text)
		}
	}
}

func TestHostileTextIsCleaned(t *testing.T) {
	for _, width := range []int{80, 40, 10} {
		v, s, out := newTestView(width, true, false)
		s.SetStatus(v.drawStatus)
		for i, e := range everyEvent(hostile) {
			v.Show([]runlog.Entry{entry(t, uint64(i+1), e)})
		}
		v.Show([]runlog.Entry{{Seq: 99, Kind: "later\x1b[2J", Data: json.RawMessage(`{"x":"\u001b[2J"}`)}})
		q := &Question{Question: &askdata.Question{Kind: askdata.KindForm, Message: hostile, URL: hostile, Fields: askdata.Fields{{Name: hostile, Title: hostile, Type: "string", Description: hostile}},
			Sample: asking.NewSample(&ask.SampleRequest{SystemPrompt: hostile, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock(hostile))}, MaxTokens: 1})}, Key: hostile}
		v.ShowEvidence(q)
		s.Print(q.heading(false, width))
		s.Print((&UnansweredError{Question: q}).Error() + "\n")
		v.showAnswer(q, &runlog.Answered{Surface: hostile, Caller: &generators.Caller{Name: hostile}, Answer: askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"x":"` + "\u202e" + `"}`)}}, true)
		v.showWithdrawal(q, &runlog.Withdrawn{Reason: "x\x1b[2J", Error: hostile})
		s.Close()
		text := strings.NewReplacer("\r\x1b[J", "").Replace(out.String()) // how the status line is removed
		for _, bad := range []string{"\x1b", "\u009b", "\u202e", "\x07", "\x08", "\r", "]0;owned\x07"} {
			if i := strings.Index(text, bad); i >= 0 {
				t.Errorf("%d columns: %q is in %q", width, bad, text[max(i-40, 0):min(i+40, len(text))])
			}
		}
	}
}

func TestColoredTextHasOnlyOurSequences(t *testing.T) {
	v, s, out := newTestView(60, false, true)
	for i, e := range everyEvent(hostile) {
		v.Show([]runlog.Entry{entry(t, uint64(i+1), e)})
	}
	s.Close()
	rest := out.String()
	for {
		i := strings.IndexByte(rest, '\x1b')
		if i < 0 {
			break
		}
		sequence, _, found := strings.Cut(rest[i:], "m")
		if !found || strings.Trim(sequence[2:], "0123456789;") != "" || sequence[1] != '[' {
			t.Fatalf("another sequence: %q", rest[i:min(i+20, len(rest))])
		}
		rest = rest[i+1:]
	}
}

func TestMeter(t *testing.T) {
	v, _, _ := newTestView(80, true, false)
	start := time.Unix(1000, 0)
	v.meter.update(&generators.ProgressEvent{Done: 0, Total: 1000, Text: "rows"}, start)
	if got := ansi.StringWidth(v.drawStatus(80)); got > 80 {
		t.Errorf("%d columns", got)
	}
	v.meter.update(&generators.ProgressEvent{Done: 250, Total: 1000, Text: "rows"}, start.Add(5*time.Second))
	for width, want := range map[int]string{80: " 25% · 50/s · 0:15 left", 40: " 25% · 50/s · 0:15 left"} {
		if line := v.drawStatus(width); !strings.HasSuffix(line, want) || !strings.Contains(line, "█") || ansi.StringWidth(line) > width {
			t.Errorf("%d: %q", width, line)
		}
	}
	if got := v.meter.text(); got != "rows: 250 of 1000,  25%, 50/s, 0:15 left" {
		t.Errorf("%q", got)
	}
}

// A screen writes its status line below what was printed, and removes it.
func TestScreen(t *testing.T) {
	_, s, out := newTestView(20, true, false)
	s.SetStatus(func(width int) string { return strings.Repeat("x", 30) })
	s.Print("one\n")
	s.Flush()
	s.Stream("str")
	s.Stream("eam")
	s.Print("two\n")
	s.Hold()
	s.Print("held\n")
	s.Flush()
	before := out.String()
	s.Release()
	s.Close()
	if strings.Contains(before, "held") || !strings.HasSuffix(before, "stream\ntwo\n") {
		t.Errorf("while it is held: %q", before)
	}
	if got := out.String(); !strings.HasPrefix(got, "one\n"+strings.Repeat("x", 19)+"\r\x1b[J") || !strings.HasSuffix(got, "\r\x1b[J") {
		t.Errorf("%q", got)
	}
}

// A burst of events is shown whole, but for what the status line passes over.
func TestBurst(t *testing.T) {
	v, s, out := newTestView(80, true, true)
	s.SetStatus(v.drawStatus)
	const n = 100_000
	batch := make([]runlog.Entry, 0, 500)
	events := []runlog.Entry{entry(t, 1, generators.Progress(1, n, "counting"))}
	for i := range 9 {
		events = append(events, entry(t, uint64(i+2), generators.Statusf("event %d", i)))
	}
	for i := range n {
		if batch = append(batch, events[i%len(events)]); len(batch) == cap(batch) {
			v.Show(batch)
			batch = batch[:0]
		}
	}
	s.Close()
	if lines := strings.Count(out.String(), "event "); lines < n*9/10-1 {
		t.Errorf("%d lines", lines)
	}
}

func TestPreparedAnswers(t *testing.T) {
	form := &Question{Key: "f.x", Question: &askdata.Question{Kind: askdata.KindForm, Fields: askdata.Fields{
		{Name: "name", Type: "string", Required: true}, {Name: "on", Type: "boolean"}, {Name: "tags", Type: "array", Choices: askdata.Choices("a", "b")}, {Name: "n", Type: "integer", Default: json.RawMessage("3")},
	}}}
	for _, tt := range []struct {
		pairs []string
		want  string // of the content, or the error
	}{
		{[]string{"f.x.name=Ada", "f.x.on=yes", "f.x.tags=a", "f.x.tags=b"}, `{"name":"Ada","n":3,"on":true,"tags":["a","b"]}`},
		{[]string{"f.x.name=Ada", `f.x.tags=["b"]`}, `{"name":"Ada","n":3,"on":false,"tags":["b"]}`},
		{[]string{`f.x={"name":"Bea"}`}, `{"name":"Bea"}`},
		{[]string{"f.x.nobody=1"}, "it has no field \"nobody\", but name, on, tags, n"},
		{[]string{"f.x=1"}, "it is a form"},
		{[]string{"f.x.on=maybe", "f.x.name=a"}, `on must be yes or no, not "maybe"`},
		{[]string{"f.x.tags=c", "f.x.name=a"}, "tags/0 must be one of a, b"},
	} {
		var p Prepared
		for _, pair := range tt.pairs {
			if err := p.AddText(pair); err != nil {
				t.Fatal(err)
			}
		}
		a, found, err := p.find(form)
		got := string(a.Content)
		if err != nil {
			got = err.Error()
		}
		var x, y any
		same := err == nil && json.Unmarshal([]byte(got), &x) == nil && json.Unmarshal([]byte(tt.want), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
		if !found || !same && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%q: %v %s", tt.pairs, found, got)
		}
		if unused := p.Unused(); len(unused) > 0 {
			t.Errorf("%q: unused %q", tt.pairs, unused)
		}
	}
}

// What comes after a status is below it, also in a terminal, whose status line shows it.
func TestOrderOfStatuses(t *testing.T) {
	for _, live := range []bool{true, false} {
		v, s, out := newTestView(80, live, false)
		s.SetStatus(v.drawStatus)
		for i, e := range []generators.Event{
			generators.Status("reading"), generators.Markdown("Report", "some text"), generators.Log(generators.Info, "a line"),
			generators.Status("writing"), generators.Chunk("chunk"), generators.Status("done"), generators.Progress(1, 2, "half"),
		} {
			v.Show([]runlog.Entry{entry(t, uint64(i+1), e)})
		}
		v.commitStatus()
		s.Close()
		at := -1
		for _, want := range []string{"• reading\n", "some text", "a line", "• writing\n", "chunk", "• done\n"} {
			next := strings.Index(out.String(), want)
			if next <= at {
				t.Errorf("live %v: %q is not below what came before it:\n%s", live, want, out)
			}
			at = next
		}
		if n := strings.Count(out.String(), "• reading\n"); n != 1 {
			t.Errorf("live %v: the first status is there %d times", live, n)
		}
	}
}

// A deadline on another day has its date.
func TestFormatDeadline(t *testing.T) {
	now := time.Date(2026, 11, 23, 18, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]string{
		now.Add(38 * time.Minute):   "18:38:00",
		now.Add(6 * time.Hour):      "Tue 2026-11-24 00:00",
		now.Add(3 * 24 * time.Hour): "Thu 2026-11-26 18:00",
	} {
		if got := formatDeadline(at, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a tool panicked with, and where, is shown if the run's log tells it; its text can't
// control the terminal.
func TestPanicIsShown(t *testing.T) {
	v, s, out := newTestView(80, false, false)
	v.Show([]runlog.Entry{runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Panic: "panic: fire\x1b[2J\n\nmain.burn()\n\t/burn.go:7\n"})})
	s.Close()
	if got := out.String(); !strings.Contains(got, "panic: fire") || !strings.Contains(got, "main.burn()\n\t/burn.go:7\n") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("it shows %q", got)
	}
}

// A bar is below the lines that are written meanwhile, and gone once all is done.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := NewBar(&Terminal{Err: &out, errTTY: true}, "Copying")
	progress := b.Progress()
	progress(1, 4)
	_, _ = b.Write([]byte("one line\n"))
	progress(4, 4)
	_, _ = b.Write([]byte("the end\n"))
	bar := "\\S Copying █+░+  25%"
	want := "^" + bar + "\r\x1b\\[Jone line\n" + bar + "\r\x1b\\[Jthe end\n$"
	if !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("a terminal gets %q, want %q", &out, want)
	}
	for name, terminal := range map[string]*Terminal{"a file": {Err: &out}, "a plain terminal": {Err: &out, errTTY: true, Plain: true}} {
		out.Reset()
		b := NewBar(terminal, "Copying")
		if b.Progress() != nil {
			t.Errorf("%s has a bar", name)
		}
		if _, _ = b.Write([]byte("one line\n")); out.String() != "one line\n" {
			t.Errorf("%s gets %q", name, &out)
		}
	}
}
