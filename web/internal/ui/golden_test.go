package ui

import (
	"encoding/json"
	"flag"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a-h/templ"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rule"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a component with testdata/NAME.html, which has one tag per line.
func golden(t *testing.T, name string, c templ.Component) {
	t.Helper()
	got := splitTags(renderHTML(t, c))
	file := filepath.Join("testdata", name+".html")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: %s", file, firstDifference(got, string(want)))
	}
}

var tagGaps = regexp.MustCompile(`(>) ?(<)`)

func splitTags(html string) string { return tagGaps.ReplaceAllString(html, "$1\n$2") + "\n" }

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			expected := "the end"
			if i < len(w) {
				expected = w[i]
			}
			return "line " + humanize.Number(float64(i+1)) + " is\n" + g[i] + "\nnot\n" + expected + "\n(go test ./web/internal/ui -update rewrites it)"
		}
	}
	return "it ends early"
}

// withFrozenClock runs a test with a stopped clock, so that ages don't change.
func withFrozenClock(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

func TestPages(t *testing.T) {
	withFrozenClock(t, func(t *testing.T) {
		c := testChrome()
		cards := []PhotonCard{
			{Name: "explore_csv", Title: "Explore a CSV file", Options: generators.Options{Description: "Reads a file.", ReadOnly: true, Durable: true}},
			{Name: "wipe", Options: generators.Options{Group: "Examples", Destructive: true, OpenWorld: true, Idempotent: true}},
		}
		found := c
		found.SearchQuery = "nothing"
		plain := c
		plain.Script = ""
		golden(t, "home", Home(c, HomePage{Photons: cards, Count: len(cards), Found: len(cards)}))
		golden(t, "home-empty", Home(plain, HomePage{}))
		golden(t, "home-search", Home(found, HomePage{Count: len(cards), Query: "nothing"}))

		fields := questions()["form"].Fields
		page := PhotonPage{Name: "wizard", Title: "Wizard", Options: generators.Options{Description: "Three questions.", Durable: true, Destructive: true}, Form: form.FromFields(fields, nil)}
		golden(t, "photon", PhotonDetails(c, page))
		page.Form = form.FromFields(fields, url.Values{"name": {"A"}, "email": {"nope"}})
		page.Errors = []generators.FieldError{driver.At("email", "must be an email address"), driver.At("topics", "must have at least 1 choice"), {Message: "is odd"}}
		golden(t, "photon-errors", PhotonDetails(c, page))
		golden(t, "photon-nested", PhotonDetails(c, nestedPage()))
		golden(t, "photon-no-input", PhotonDetails(c, PhotonPage{Name: "ping", Form: form.FromFields(nil, nil)}))

		w := newLogWriter("{}")
		w.ask(questions()["select"])
		w.ask(questions()["text"])
		now := time.Now()
		infos := []engine.Info{
			{ID: runID, Photon: "wizard", Title: "Wizard", State: engine.Waiting, Started: now.Add(-time.Minute), Asks: []engine.OpenAsk{w.run.Open[0].OpenAsk}},
			{ID: "b", Photon: "explore_csv", State: engine.Failed, Error: "no such file", Started: now.Add(-3 * time.Hour), Ended: now.Add(-2 * time.Hour)},
			{ID: "c", Photon: "explore_csv", State: engine.Interrupted, Error: "Beam was stopped", Started: now.Add(-72 * time.Hour), Ended: now.Add(-71 * time.Hour)},
			{ID: "u", Photon: "explore_csv", State: engine.Unanswered, Reason: runlog.ReasonDeclined, Error: `"Which column?" was declined.`, Started: now.Add(-80 * time.Hour), Ended: now.Add(-79 * time.Hour)},
			{ID: "d", Photon: "explore_csv", State: engine.Completed, Started: now.Add(-time.Second), Ended: now},
		}
		lines := make([]RunLine, len(infos))
		for i, info := range infos {
			lines[i] = RunLine{Info: info}
		}
		lines[1].Input = "weather.csv · mean"
		lines[2].Owner = "browser session"
		golden(t, "runs", Runs(c, RunsPage{Runs: lines}))
		golden(t, "runs-empty", Runs(c, RunsPage{}))
		golden(t, "runs-filtered", Runs(c, RunsPage{RunFilter: RunFilter{State: "failed"}}))
		asks := []InboxLine{{OpenAsk: w.run.Open[0].OpenAsk}, {OpenAsk: w.run.Open[1].OpenAsk, Owner: "Ada"}}
		asks[1].Deadline, asks[1].Lost = now.Add(90*time.Second), true
		golden(t, "inbox", Inbox(c, InboxPage{Asks: asks, Count: len(asks)}))
		named := c
		named.Person, named.SignedIn = "Ada <Lovelace>", false
		golden(t, "inbox-empty", Inbox(named, InboxPage{}))
		golden(t, "ask-page", AskPage(c, asks[1].OpenAsk, nil, nil))
		golden(t, "ask-page-errors", AskPage(plain, asks[1].OpenAsk, []generators.FieldError{driver.At("key", "must be longer")}, url.Values{"key": {"x"}}))
		w.answer(2, askdata.Accept, `{"`+asks[0].Question.Fields[0].Name+`":"prod"}`)
		golden(t, "ask-closed", AskClosedPage(c, w.run.Ask(asks[0].ID), nil))
		golden(t, "login", Login(c, LoginPage{Error: "That is not the token.", Next: "/runs/a", Token: true}))
		golden(t, "login-operator", Login(c, LoginPage{SignInCommand: "beam open"}))
		golden(t, "login-temporary", Login(c, LoginPage{}))
		golden(t, "login-wanted", Login(c, LoginPage{Next: "/asks/a.3", SignInCommand: "hello open --data /srv/hello"}))
		golden(t, "error", ErrorPage(c, 404, "There is no such run", "It may have been deleted.", Link{"/runs", "Show all runs"}))
		unknown := c
		unknown.Anonymous = true
		golden(t, "error-anonymous", ErrorPage(unknown, 404, "Not Found", "Page not found.", Link{}))
	})
}

func TestAsks(t *testing.T) {
	withFrozenClock(t, func(t *testing.T) {
		for _, kind := range slices.Sorted(maps.Keys(questions())) {
			w := newLogWriter("{}")
			w.ask(questions()[kind])
			golden(t, "ask-"+kind, AskForm(w.openAsk(), nil, nil))
		}
		w := newLogWriter("{}")
		w.ask(questions()["form"])
		errs := []generators.FieldError{driver.At("email", "must be an email address"), driver.At("topics", "must have at most 2 choices"), driver.At("role", "is required")}
		golden(t, "ask-form-errors", AskForm(w.openAsk(), errs, nil))
		golden(t, "ask-form-errors-plain", AskForm(w.openAsk(), errs, url.Values{"name": {"Ada"}, "topics": {"auth", "logging"}, "newsletter": {"on"}}))
		golden(t, "ask-gone", AskUnavailable(w.openAsk(), "It was answered at the terminal."))
		w.answer(2, askdata.Decline, "")
		golden(t, "ask-settled", AskClosedInDock(w.run.Ask(runlog.AskID(runID, 2))))
		golden(t, "ask-gone-unknown", AskUnavailable(engine.OpenAsk{ID: runID + ".9"}, "It has expired."))
		w.ask(questions()["file"])
		golden(t, "ask-file-errors", AskForm(w.openAsk(), []generators.FieldError{{Path: "/file", Message: "is required: choose a file", Rule: rule.Required}}, nil))
	})
}

func TestArtifacts(t *testing.T) {
	// The highlighter's expressions start a clock goroutine, for which a test in a bubble
	// would wait.
	for _, kind := range slices.Sorted(maps.Keys(shownArtifacts())) {
		w := newLogWriter("{}")
		w.events(shownArtifacts()[kind])
		golden(t, "artifact-"+kind, Row(w.run, w.run.Items[1]))
	}
}

// fullRun returns a run with a row of every kind.
func fullRun() *logWriter {
	w := newLogWriter(`{"plan":"team"}`)
	w.events(generators.Status("looking"), generators.StatusAt(generators.Success, "found"), generators.StatusAt(generators.Warning, "late"), generators.StatusAt(generators.Error, "broken"))
	w.advance(1500 * time.Millisecond)
	w.events(generators.Status("again"), generators.Status("again"), generators.Toast(generators.Info, "by the way"))
	w.events(generators.LogTo("db", generators.Debug, map[string]any{"rows": 12}), generators.Log(generators.Critical, "gone"))
	w.events(generators.Chunk("Once "), generators.Chunk("upon\na time"))
	w.add(runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "reserve"}))
	w.add(runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "pay", Error: "no money"}))
	w.add(runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 2}))
	w.advance(time.Minute)
	for _, action := range []askdata.Action{askdata.Accept, askdata.Decline, askdata.Cancel} {
		seq := w.ask(questions()["text"])
		w.advance(2 * time.Second)
		w.answer(seq, action, `{"key":"Ada"}`)
	}
	w.answer(w.ask(questions()["form"]), askdata.Accept, `{"name":"Ada","role":"dev","topics":["auth"],"newsletter":true}`)
	w.answer(w.ask(questions()["secret"]), askdata.Accept, "")
	w.add(runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: w.ask(questions()["date"]), Reason: runlog.Expired}))
	return w
}

// runOfAnother returns a run as an operator sees it who is not its owner.
func runOfAnother() *logWriter {
	w := &logWriter{run: timeline.New(runID), now: time.Now()}
	w.run.Viewer = generators.Caller{ID: "grace", Roles: []string{generators.RoleOperator}}
	started := runlog.Started{Photon: "wizard", Title: "Wizard", Surface: "browser", Args: []byte("{}")}
	started.SetStartedBy(generators.Caller{ID: "ada", Name: "Ada"})
	w.add(runlog.NewEntry(runlog.KindStarted, started))
	w.add(runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: generators.Caller{ID: "bob", Name: "Bob"}}))
	for _, c := range []generators.Caller{{ID: "bob", Name: "Bob"}, {ID: "bob"}, {ID: "operator"}, {ID: "session:x"}} {
		w.answerer = &c
		w.answer(w.ask(questions()["text"]), askdata.Accept, `{"key":"Ada"}`)
	}
	w.ask(questions()["text"])
	return w
}

func TestRuns(t *testing.T) {
	withFrozenClock(t, func(t *testing.T) {
		c := testChrome()
		golden(t, "run-running", RunPage(c, fullRun().run))

		w := newLogWriter("{}")
		w.events(generators.Progress(3, 5, "printing"))
		w.ask(questions()["select"])
		w.ask(questions()["text"])
		golden(t, "run-waiting", RunPage(c, w.run))
		c.Script = ""
		golden(t, "run-plain", RunPage(c, w.run))
		golden(t, "run-of-another", RunPage(testChrome(), runOfAnother().run))
		c = testChrome()

		for status, end := range map[runlog.FinishStatus][2]string{
			runlog.Completed: {`{"rows":12,"of":["a"]}`, ""}, runlog.Failed: {"", "no such file"},
			runlog.Stopped: {"", "no client came back to the run"}, runlog.Interrupted: {"", "Beam was stopped"},
		} {
			w := newLogWriter("{}")
			w.ask(questions()["text"])
			w.advance(90 * time.Second)
			w.finish(status, end[0], end[1])
			golden(t, "run-"+string(status), RunPage(c, w.run))
		}
		w = newLogWriter("{}")
		w.answer(w.ask(questions()["text"]), askdata.Decline, "")
		w.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Seq: 2, Message: "Your name?"}}))
		golden(t, "run-unanswered", RunPage(c, w.run))
		w = newLogWriter("{}")
		w.finish(runlog.Completed, `"Dinner confirmed for 4 people."`, "")
		golden(t, "run-completed-text", RunPage(c, w.run))

		w = newLogWriter("{}")
		w.add(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "nap", Until: w.now.Add(time.Hour)}))
		w.add(runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: w.last}))
		w.add(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "night", Until: w.now.Add(8 * time.Hour)}))
		golden(t, "run-sleeping", RunPage(c, w.run))
		w = newLogWriter("{}")
		w.add(runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"}))
		golden(t, "run-queued", RunPage(c, w.run))

		golden(t, "progress-none", ProgressBar(nil))
		golden(t, "progress-busy", ProgressBar(&timeline.Progress{Text: "working"}))
		golden(t, "progress-half", ProgressBar(&timeline.Progress{Done: 2.5, Total: 5}))
		golden(t, "hidden", DroppedNote(&timeline.Run{ID: runID, Rows: timeline.Rows{DroppedItems: 12345, CompleteAfter: 12399}}))
		golden(t, "toast", Toast(&timeline.Item{Kind: timeline.Toast, Level: generators.Warning, Text: "careful"}))
	})
}

// nestedPage returns a page whose form has every kind of part, with errors.
func nestedPage() PhotonPage {
	doc := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(`{"type":"object","required":["contact","servers","source"],"properties":{
	  "contact":{"type":"object","title":"Contact","description":"Whom to tell.","required":["email"],"properties":{"email":{"type":"string","title":"Email","format":"email","examples":["ada@example.org"]}}},
	  "servers":{"type":"array","title":"Servers","items":{"type":"object","properties":{"port":{"type":"integer","title":"Port","maximum":65535}}}},
	  "tags":{"type":"array","title":"Tags","items":{"type":"string"}},
	  "source":{"title":"Source","oneOf":[{"title":"Git","type":"object","required":["url"],"properties":{"kind":{"const":"git"},"url":{"type":"string","title":"URL"}}},{"type":"string","title":"Path"}]},
	  "labels":{"type":"object","title":"Labels","additionalProperties":{"type":"string"}},
	  "limits":{"type":"object","title":"Limits","properties":{"cpu":{"type":"number"}}},
	  "token":{"type":"string","title":"Token","format":"password"},
	  "data":{"type":"string","title":"Data","contentEncoding":"base64"},
	  "old":{"type":"boolean","title":"Old way","deprecated":true,"default":true},
	  "id":{"type":"string","readOnly":true},
	  "free":{"type":"object","title":"Anything"}}}`), doc); err != nil {
		panic(err)
	}
	p := PhotonPage{Name: "deploy", View: "json", Focus: form.Focus{Input: "servers/1", Button: "up"}, Said: "Moved"}
	p.Form = form.ForSchema(doc).Fill([]byte(`{"contact":{},"servers":[{"port":80},{"port":70000}],"tags":["a",""],"source":{"kind":"git"},"labels":{"team":"web"},"token":"s","free":{"a":1},"other":[1]}`))
	for _, e := range []generators.FieldError{
		{Path: "/contact/email", Rule: rule.Required}, {Path: "/servers/1/port", Rule: rule.Maximum, Want: "65535"}, {Path: "/source/url", Rule: rule.Required},
		{Path: "/free/a", Message: "is odd"}, {Path: "/tags/1", Rule: rule.MinLength, Want: "1"}, {Path: "/other", Rule: rule.AdditionalProperties},
	} {
		if e.Rule != "" {
			e.Message = rule.Message(e.Rule, e.Want, e.Got)
		}
		p.Errors = append(p.Errors, e)
	}
	slices.SortFunc(p.Errors, func(a, b generators.FieldError) int { return strings.Compare(a.Path, b.Path) })
	return p
}
