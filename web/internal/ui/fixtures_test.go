package ui

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

const runID = "7f3c00000000000000000000000000a1"

// A logWriter applies entries to a run.
type logWriter struct {
	run     *timeline.Run
	last    uint64
	now     time.Time
	changes []timeline.Change
	// answerer answers the questions; nil if that isn't known.
	answerer *generators.Caller
}

func newLogWriter(args string) *logWriter {
	w := &logWriter{run: timeline.New(runID), now: time.Now()}
	w.add(runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "wizard", Title: "Wizard", Surface: "browser", Args: json.RawMessage(args)}))
	return w
}

func (w *logWriter) add(e runlog.Entry) uint64 {
	w.last++
	e.Seq, e.Time = w.last, w.now
	w.changes = append(w.changes, w.run.Apply(e))
	return w.last
}

// takeChanges returns the changes since the last call.
func (w *logWriter) takeChanges() []timeline.Change {
	c := w.changes
	w.changes = nil
	return c
}

func (w *logWriter) events(events ...generators.Event) {
	for _, e := range events {
		kind, data, err := driver.Encode(e)
		if err != nil {
			panic(err)
		}
		w.add(runlog.Entry{Kind: runlog.Kind(kind), Data: data})
	}
}

func (w *logWriter) advance(d time.Duration) { w.now = w.now.Add(d) }

func (w *logWriter) ask(q *askdata.Question) uint64 {
	return w.add(runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "key", Question: q}))
}

func (w *logWriter) answer(seq uint64, action askdata.Action, content string) {
	a := askdata.Answer{Action: action}
	if content != "" {
		a.Content = json.RawMessage(content)
	}
	w.add(runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: a, Surface: "terminal", Caller: w.answerer}))
}

func (w *logWriter) finish(status runlog.FinishStatus, result, problem string) {
	w.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: status, Result: json.RawMessage(result), Error: problem}))
}

func (w *logWriter) openAsk() engine.OpenAsk { return w.run.Open[len(w.run.Open)-1].OpenAsk }

// questions returns one question of each kind, and variants.
func questions() map[string]*askdata.Question {
	one := func(f askdata.Field) askdata.Fields { f.Name = "key"; f.Required = true; return askdata.Fields{f} }
	return map[string]*askdata.Question{
		"text":        {Kind: askdata.KindText, Message: "What is your name?", Fields: one(askdata.Field{Type: "string", MinLength: 2, MaxLength: 40})},
		"pattern":     {Kind: askdata.KindText, Message: "Which code?", Fields: one(askdata.Field{Type: "string", Pattern: "^[A-Z]{3}$", PatternHint: "three capital letters", Description: "As it stands on the ticket"})},
		"long":        {Kind: askdata.KindText, Message: "Tell us more.", Fields: one(askdata.Field{Title: "More", Type: "string", Format: askdata.FormatLong, Default: json.RawMessage(`"\nsecond line"`)})},
		"secret":      {Kind: askdata.KindSecret, Message: "What is the key?", Fields: one(askdata.Field{Type: "string", Format: askdata.FormatSecret})},
		"confirm":     {Kind: askdata.KindConfirm, Message: "Deploy to staging?", Yes: "Deploy", No: "Not now", Fields: one(askdata.Field{Type: "boolean"})},
		"destructive": {Kind: askdata.KindConfirm, Message: "Delete 3 environments?", Destructive: true, Fields: one(askdata.Field{Type: "boolean"})},
		"showing": {Kind: askdata.KindConfirm, Message: "Apply 2 migrations?", Yes: "Apply", No: "Keep", Destructive: true, Fields: one(askdata.Field{Type: "boolean"}), Evidence: []*generators.Artifact{
			{Title: "001.sql", MediaType: "text/x-sql", Body: []byte("DROP TABLE a;\n"), Size: 14},
			{Title: "Rows <b>", MediaType: generators.TableType, Body: []byte(`{"columns":["table","rows"],"rows":[["a",12]]}`), Size: 47},
			{Title: "", MediaType: "image/png", Body: []byte("png"), Size: 3},
			{Title: "backup.tar", MediaType: "application/x-tar", Body: []byte("tar"), Size: 3},
		}},
		"select": {Kind: askdata.KindSelect, Message: "Where shall it go?", Fields: one(askdata.Field{Type: "string", Default: json.RawMessage(`"staging"`),
			Choices: []askdata.Choice{{Value: "dev", Title: "Development"}, {Value: "staging", Title: "Staging"}, {Value: "prod", Title: "Production"}}})},
		"select-many":  {Kind: askdata.KindSelect, Message: "Which letter?", Fields: one(askdata.Field{Type: "string", Choices: askdata.Choices("a", "b", "c", "d", "e", "f", "g")})},
		"multiselect":  {Kind: askdata.KindMultiSelect, Message: "What shall be set up?", Fields: one(askdata.Field{Type: "array", MinItems: 1, MaxItems: 2, Choices: askdata.Choices("auth", "logging", "metrics", "tracing")})},
		"number":       {Kind: askdata.KindNumber, Message: "How much?", Fields: one(askdata.Field{Type: "number", Minimum: new(0.0), Maximum: new(10.0), Step: new(0.5), Default: json.RawMessage("2.5")})},
		"integer":      {Kind: askdata.KindInteger, Message: "How many?", Fields: one(askdata.Field{Type: "integer", Minimum: new(1.0), Maximum: new(20.0)})},
		"date":         {Kind: askdata.KindDate, Message: "Which day?", Fields: one(askdata.Field{Type: "string", Format: "date", Earliest: "2026-01-01", Latest: "2026-12-31"})},
		"datetime":     {Kind: askdata.KindDateTime, Message: "When?", Fields: one(askdata.Field{Type: "string", Format: "date-time", Earliest: "2026-01-01T00:00:00Z", Default: json.RawMessage(`"2026-05-01T11:00:00+02:00"`)})},
		"file":         {Kind: askdata.KindFile, Message: "Which file?", File: &askdata.FileRules{Types: []string{"text/csv", ".csv"}, MaxSize: 100e6, Min: 1, Max: 1}},
		"files":        {Kind: askdata.KindFile, Message: "Which files?", File: &askdata.FileRules{MaxSize: 1e6, Min: 2, Max: 5}},
		"url":          {Kind: askdata.KindURL, Message: "Sign in there, then go on here.", URL: "https://id.example.com/authorize?client=beam"},
		"url-doubtful": {Kind: askdata.KindURL, Message: "Sign in there.", URL: "http://good.example@xn--bd-mja.example/"},
		"url-none":     {Kind: askdata.KindURL, Message: "Sign in there.", URL: "javascript:alert(1)"},
		"url-done":     {Kind: askdata.KindURL, Message: "Sign in there.", URL: "https://id.example.com/authorize", UntilDone: true},
		"roots":        {Kind: askdata.KindRoots, Message: "Which folders?", Fields: askdata.Fields{{Name: "roots", Title: "Folders", Type: "string", Format: askdata.FormatLong, Required: true}}},
		"sample": {Kind: askdata.KindSample, Message: "Request to a model: Sum up", Fields: askdata.Fields{{Name: "text", Title: "Answer", Type: "string", Format: askdata.FormatLong, Required: true}},
			Sample: asking.NewSample(&ask.SampleRequest{SystemPrompt: "Be brief.", MaxTokens: 1000, Tools: []json.RawMessage{json.RawMessage(`{"name":"look"}`)}, Messages: []ask.SampleMessage{
				ask.FromUser(ask.TextBlock("What <b>is</b> this?\nAnd that?"), ask.ImageBlock([]byte("png"), "image/png")),
				ask.FromAssistant(ask.TextBlock("A cat.")),
				ask.FromUser(ask.TextBlock("Sum up")),
			}})},
		"form": {Kind: askdata.KindForm, Message: "Tell us about yourself", Fields: askdata.Fields{
			{Name: "name", Title: "Name", Type: "string", Required: true},
			{Name: "email", Title: "Email", Type: "string", Format: "email", Required: true, Description: "Where the confirmation goes"},
			{Name: "age", Title: "Age", Type: "integer", Minimum: new(18.0), Maximum: new(120.0)},
			{Name: "role", Title: "Role", Type: "string", Choices: []askdata.Choice{{Value: "dev", Title: "Developer"}, {Value: "ops", Title: "Operations"}}},
			{Name: "topics", Title: "Topics", Type: "array", MinItems: 1, MaxItems: 2, Choices: askdata.Choices("auth", "logging")},
			{Name: "newsletter", Title: "Newsletter", Type: "boolean", Default: json.RawMessage("true")},
			{Name: "website", Title: "Website", Type: "string", Format: "uri"},
			{Name: "at", Title: "At", Type: "string", Format: askdata.FormatTime, Pattern: askdata.TimePattern},
		}},
	}
}

// shownArtifacts returns one artifact of each type.
func shownArtifacts() map[string]generators.Event {
	return map[string]generators.Event{
		"markdown": generators.Markdown("Report", "# Findings\n\nIt has **12** rows, see [there](https://example.com).\n\n### Next\n\n- [x] one\n\n```go\nvar x = 1\n```\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n![a cat](https://example.com/cat.png)\n"),
		"code":     generators.Code("main.go", "go", "package main\n\n// hi\nfunc main() { println(\"<b>\", 42) }\n"),
		"plain":    generators.File("notes.txt", "text/plain", []byte("one\ntwo <three>\n")),
		"json":     generators.JSON("Settings", json.RawMessage(`{"z":1,"a":{"list":[1.50,"two",null,true,{}]},"big":12345678901234567890}`)),
		"table":    generators.TableOf("Cities", generators.Table{Columns: []string{"city", "rows"}, Rows: [][]any{{"Berlin", 12}, {"Paris", nil}, {"a name that is so long that it may be broken", 7.5}}}),
		"bars":     generators.ChartOf("Rows", generators.Chart{Kind: generators.Bars, XTitle: "city", YTitle: "rows", Labels: []string{"Berlin", "Paris"}, Series: []generators.Series{{Name: "rows", Values: []float64{12, 7}}}}),
		"lines":    generators.ChartOf("Degrees", generators.Chart{Kind: generators.Lines, Labels: []string{"1", "2", "3"}, Series: []generators.Series{{Name: "north", Values: []float64{-1, 0.5, 2}}, {Name: "south", Values: []float64{3, 2, 1}}}}),
		"image":    generators.Image("Picture", "image/svg+xml", []byte("<svg/>")),
		"file":     generators.File("a.zip", "application/zip", []byte("PK")),
		"empty":    generators.File("empty.txt", "text/plain", nil),
		"large":    &generators.Artifact{Title: "Large", MediaType: "text/plain", Digest: "sha256-x", Size: 5e9},
	}
}

func testChrome() Chrome {
	return Chrome{
		Photons:    []PhotonLink{{Name: "explore_csv", Title: "Explore a CSV file"}, {Name: "wizard", Title: "Wizard", Current: true}},
		RecentRuns: []RunLine{{Info: engine.Info{ID: runID, Photon: "wizard", Title: "Wizard", State: engine.Waiting, Started: time.Now().Add(-5 * time.Minute)}, Input: "Ada · editor"}},
		OpenAsks:   2, Person: "operator", SignedIn: true,
		Script: "/static/vendor/datastar.js", OwnScript: "/static/beam.js", Modules: []string{"/static/script/a.js"}, Style: "/static/beam.css", Icon: "/static/icons/beam.svg",
	}
}

// renderHTML returns a component's HTML.
func renderHTML(t testing.TB, c templ.Component) string {
	t.Helper()
	page, err := Render(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
