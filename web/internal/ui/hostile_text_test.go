package ui

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/jsonschema-go/jsonschema"
	"golang.org/x/net/html"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// hostileTexts are texts that a hostile photon or person might send. Each contains "pwn",
// which must not appear in any attribute that is code.
var hostileTexts = []string{
	`"><script>pwn(1)</script>`,
	`'-pwn(1)-'`,
	`</textarea></select></title></style><script>pwn(1)</script>`,
	`<img src=x onerror=pwn(1)>`,
	`" onmouseover="pwn(1)" style="pwn" data-on:click="pwn(1)`,
	`javascript:pwn(1)`,
	"pwn\rdata: mode inner\rdata: selector body\r\rdata: elements <b data-init=\"pwn(1)\">",
	"pwn\x00\x1b[31m\u202e\u202e",
	"pwn <!-- ${pwn} $pwn @post('pwn') {{pwn}} `pwn`",
}

// hostileRun returns a run with hostile text wherever there can be text.
func hostileRun(s string) *logWriter {
	w := newLogWriter("{}")
	args, _ := json.Marshal(map[string]any{s: []any{s, map[string]string{s: s}}})
	w.run.Apply(runlog.Entry{Seq: 2, Time: w.now, Kind: runlog.KindStarted, Data: runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: s, Title: s, Surface: s, Args: args, Owner: s, Caller: &generators.Caller{ID: s, Name: s}}).Data})
	w.last = 2
	w.events(hostileEvents(s)...)
	w.add(runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: s, Error: s}))
	w.add(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: s}))
	w.add(runlog.NewEntry(runlog.KindRepeated, runlog.Repeated{Key: s}))
	w.add(runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: s}))
	w.add(runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: generators.Caller{ID: s, Name: s}}))
	w.run.Models = testModels()
	w.run.Viewer = generators.Caller{ID: "operator", Roles: []string{generators.RoleOperator}}
	w.answerer = &generators.Caller{ID: s + s, Name: s}
	for _, q := range hostileQuestions(s) {
		content, _ := json.Marshal(map[string]any{s: s})
		w.answer(w.ask(q), askdata.Accept, string(content))
		seq := w.ask(q)
		if q.Kind == askdata.KindSample {
			w.hostileSampling(seq, s)
		}
	}
	return w
}

// hostileSampling adds the calls of a model for a question: one that failed, and one whose
// reply waits.
func (w *logWriter) hostileSampling(seq uint64, s string) {
	for call := range 2 {
		d := runlog.Sampling{AskSeq: seq, Call: call + 1}
		add := func(change func(*runlog.Sampling)) {
			entry := d
			change(&entry)
			w.add(runlog.NewEntry(runlog.KindSampling, entry))
		}
		add(func(d *runlog.Sampling) {
			d.Approved = &runlog.Approval{Model: s, ID: s, Endpoint: s, Standing: s, Surface: s, By: &generators.Caller{ID: s, Name: s},
				Request: &ask.SampleRequest{SystemPrompt: s, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock(s))}, MaxTokens: 1}}
		})
		add(func(d *runlog.Sampling) { d.Notice = s })
		add(func(d *runlog.Sampling) { d.Text = s })
		add(func(d *runlog.Sampling) {
			d.Ended = &runlog.EndOfSampling{Error: s}
			if call > 0 {
				d.Ended = &runlog.EndOfSampling{Result: &ask.SampleResult{Role: ask.RoleAssistant, Model: s, Content: ask.FromAssistant(ask.TextBlock(s), ask.SampleBlock{Type: askdata.BlockToolUse, ID: "1", Name: s, Input: []byte("{}")}).Content}}
			}
		})
	}
}

// hostileEvents returns events of every kind that a generator yields.
func hostileEvents(s string) []generators.Event {
	return []generators.Event{
		&generators.StatusEvent{Level: generators.Level(s), Text: s}, &generators.ToastEvent{Level: generators.Level(s), Text: s},
		&generators.LogEvent{Level: generators.Level(s), Logger: s, Data: s}, generators.Log(generators.Info, map[string]string{s: s}),
		generators.Chunk(s), generators.Progress(1, 2, s),
		generators.Markdown(s, s+"\n\n# "+s+"\n\n```"+s+"\n"+s+"\n```\n\n[x]("+s+") ![x]("+s+") <"+s+">\n\n[y](javascript:pwn(1)) ![y](javascript:pwn(1)) <javascript:pwn(1)>\n\n| "+s+" |\n|---|\n| "+s+" |\n"),
		generators.Code(s, "html", s), generators.Code(s, "go", s), generators.JSON(s, map[string]any{s: s}),
		generators.TableOf(s, generators.Table{Columns: []string{s, s}, Rows: [][]any{{s, s}, {1, nil}}}),
		generators.ChartOf(s, generators.Chart{Kind: generators.Bars, XTitle: s, YTitle: s, Labels: []string{s, s}, Series: []generators.Series{{Name: s, Values: []float64{1, 2}}, {Name: s, Values: []float64{1, 2}}}}),
		generators.ChartOf(s, generators.Chart{Kind: generators.Lines, XTitle: s, YTitle: s, Labels: []string{s}, Series: []generators.Series{{Name: s, Values: []float64{1}}}}),
		generators.Image(s, "image/svg+xml", []byte(s)), generators.File(s, s, []byte(s)), generators.File(s, "text/html", []byte(s)),
		&generators.Artifact{Title: s, MediaType: s, Digest: s, Size: 9},
	}
}

func hostileQuestions(s string) []*askdata.Question {
	raw, _ := json.Marshal(s)
	list, _ := json.Marshal([]string{s})
	choices := []askdata.Choice{{Value: s, Title: s}, {Value: "b"}}
	many := append(choices, askdata.Choices("c", "d", "e", "f", "g", "h")...)
	f := askdata.Field{Name: s, Title: s, Description: s, Type: "string", Required: true, Pattern: s, PatternHint: s, Earliest: s, Latest: s, Default: raw}
	with := func(change func(*askdata.Field)) askdata.Field { g := f; change(&g); return g }
	fields := askdata.Fields{
		f,
		with(func(f *askdata.Field) { f.Format = askdata.FormatLong }),
		with(func(f *askdata.Field) { f.Format = askdata.FormatSecret }),
		with(func(f *askdata.Field) { f.Format = "date" }),
		with(func(f *askdata.Field) { f.Format = "date-time" }),
		with(func(f *askdata.Field) { f.Format = askdata.FormatTime }),
		with(func(f *askdata.Field) { f.Format = "uri" }),
		with(func(f *askdata.Field) { f.Format = "email" }),
		with(func(f *askdata.Field) { f.Type = "number" }),
		with(func(f *askdata.Field) { f.Type = "boolean" }),
		with(func(f *askdata.Field) { f.Type = "" }),
		with(func(f *askdata.Field) { f.Type = s; f.Format = s }),
		with(func(f *askdata.Field) { f.Choices = choices; f.Required = false }),
		with(func(f *askdata.Field) { f.Choices = many }),
		with(func(f *askdata.Field) { f.Type = "array"; f.Choices = choices; f.Default = list }),
	}
	return []*askdata.Question{
		{Kind: askdata.KindForm, Message: s, Fields: fields},
		{Kind: askdata.KindConfirm, Message: s, Yes: s, No: s, Destructive: true, Fields: askdata.Fields{{Name: s, Type: "boolean"}}},
		{Kind: askdata.KindConfirm, Message: s, Fields: askdata.Fields{{Name: s, Type: "boolean"}}, Evidence: []*generators.Artifact{
			{Title: s, MediaType: s, Body: []byte(s)}, {Title: s, MediaType: "text/plain", Body: []byte(s)}, {Title: s, MediaType: "image/png", Body: []byte(s)},
		}},
		{Kind: askdata.KindConfirm, Message: s + "?", Destructive: true, Fields: askdata.Fields{{Name: s, Type: "boolean"}}},
		{Kind: askdata.KindFile, Message: s, File: &askdata.FileRules{Types: []string{s}, MaxSize: 1, Min: 1, Max: 2}},
		{Kind: askdata.KindURL, Message: s, URL: s},
		{Kind: askdata.KindURL, Message: s, URL: "https://" + s},
		{Kind: askdata.KindURL, Message: s, URL: "https://example.com/" + s, UntilDone: true},
		{Kind: askdata.KindSample, Message: s, Fields: fields[:1], Sample: asking.NewSample(&ask.SampleRequest{SystemPrompt: s, Messages: []ask.SampleMessage{
			ask.FromUser(ask.TextBlock(s), ask.ImageBlock([]byte(s), s), ask.SampleBlock{Type: s}), {Role: ask.SampleRole(s), Content: raw}}})},
		{Kind: askdata.Kind(s), Message: s},
	}
}

// hostilePages returns every page and patch that renders untrusted text.
func hostilePages(s string) map[string]templ.Component {
	c := testChrome()
	c.SearchQuery, c.Title, c.Person = s, s, s
	c.Photons = []PhotonLink{{Name: s, Title: s}}
	c.RecentRuns = []RunLine{{Info: engine.Info{ID: s, Photon: s, Title: s, State: engine.State(s), Started: time.Now()}, Input: s}}
	w := hostileRun(s)
	errs := []generators.FieldError{driver.At(s, s), {Path: s, Message: s}, {Message: s}, driver.At("file", s)}
	var open []InboxLine
	pages := map[string]templ.Component{
		"run":    RunPage(c, w.run),
		"home":   Home(c, HomePage{Count: 2, Found: 2, Query: s, After: s, Next: s, Photons: []PhotonCard{{Name: s, Title: s, Options: generators.Options{Description: s}}}}),
		"photon": PhotonDetails(c, PhotonPage{Name: s, Title: s, Options: generators.Options{Description: s}, Form: hostileForm(s), JSON: s, JSONError: s, Said: s, View: s, Errors: errs}),
		"runs":   Runs(c, RunsPage{RunFilter: RunFilter{s, s, s, s, s, s, s}, After: s, Next: s, Scanned: 1, OfAll: true, Runs: []RunLine{{Info: engine.Info{ID: s, Photon: s, Title: s, State: engine.State(s), Error: s}, Input: s, Owner: s}, {Info: engine.Info{ID: s, State: engine.Waiting, Asks: []engine.OpenAsk{w.run.Open[0].OpenAsk}}}}}),
		"login":  Login(c, LoginPage{Error: s, Next: s, Token: true}),
		"error":  ErrorPage(c, 500, s, s, Link{Text: s, URL: "/"}),
	}
	for n, a := range w.run.Open {
		a.OpenAsk.Run, a.OpenAsk.ID = s, s+"."+humanize.Number(float64(n)) // no engine makes such ids
		open = append(open, InboxLine{OpenAsk: a.OpenAsk, Owner: s, Open: n == 0})
		pages["ask "+humanize.Number(float64(n))] = concat(AskForm(a.OpenAsk, errs, nil), AskForm(a.OpenAsk, errs, url.Values{s: {s}}), AskUnavailable(a.OpenAsk, s), AskPage(c, a.OpenAsk, errs, url.Values{s: {s}}))
	}
	pages["asks"] = Inbox(c, InboxPage{RunFilter: RunFilter{s, s, s, s, s, s, s}, Asks: open, After: s, Next: s, OfAll: true})
	ended := hostileRun(s)
	ended.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.FinishStatus(s), Error: s, By: s, Ask: &runlog.UnansweredAsk{Reason: runlog.UnansweredReason(s), Message: s, Detail: s}, Result: json.RawMessage(`{"a":"` + "pwn" + `"}`)}))
	pages["ended"] = RunPage(c, ended.run)
	pages["replicas"] = Replicas(c, ReplicasPage{Status: hostileReplicas(s)})
	pages["upstreams"] = Upstreams(c, []upstream.Status{hostileUpstream(s)})
	pages["upstream"] = Upstream(c, hostileUpstream(s))
	return pages
}

// hostileUpstream returns an upstream with hostile text wherever it has text.
func hostileUpstream(s string) upstream.Status {
	quoted, err := json.Marshal(map[string]string{"name": s, "version": s, "title": s, "description": s, s: s})
	if err != nil {
		panic(err)
	}
	events := []upstream.Event{{Text: s}}
	u := upstream.Status{
		Name: s, Type: s, Address: s, File: s, Own: true, State: upstream.State(s), Error: s, Ignored: []string{s}, Warn: []string{s},
		Version: s, Info: quoted, Capabilities: quoted, Instructions: s, Errors: events, Stderr: events,
	}
	for _, d := range []policy.Decision{policy.Offered, policy.Held, policy.Denied, policy.Skipped} {
		t := policy.ToolStatus{Name: s, Title: s, Decision: d, Reason: s, Photon: s, Added: time.Now()}
		if d == policy.Held {
			t.Change = &policy.Change{Digest: s, Old: quoted, New: quoted[:len(quoted)-1]}
		}
		u.Tools = append(u.Tools, t)
	}
	return u
}

func TestHostileText(t *testing.T) {
	for _, s := range hostileTexts {
		for name, c := range hostilePages(s) {
			checkHarmless(t, name+" with "+s, renderHTML(t, c))
		}
		w := hostileRun(s)
		for _, p := range append(RunPatches(w.run, w.changes), ResyncPatches(w.run)...) {
			if p.Component == nil {
				continue
			}
			got := renderHTML(t, p.Component)
			checkHarmless(t, p.Mode+" "+p.Selector+" with "+s, got)
			if strings.Contains(got, "\r") {
				t.Errorf("a patch of %s holds a carriage return", p.Selector)
			}
			if strings.Contains(p.Selector, "pwn") {
				t.Errorf("a selector is %s", p.Selector)
			}
		}
	}
}

// checkHarmless parses HTML as a browser does and checks that nothing in it can run.
func checkHarmless(t *testing.T, what, text string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script":
			if src := attribute(n, "src"); src != "/static/vendor/datastar.js" && src != "/static/beam.js" || n.FirstChild != nil {
				t.Errorf("%s: there is a script: %s", what, src)
			}
		case "style", "iframe", "object", "embed", "base", "template":
			t.Errorf("%s: there is a <%s>", what, n.Data)
		}
		for _, a := range n.Attr {
			checkHarmlessAttribute(t, what, n, a)
		}
	}
}

func checkHarmlessAttribute(t *testing.T, what string, n *html.Node, a html.Attribute) {
	t.Helper()
	key := strings.ToLower(a.Key)
	switch {
	case strings.HasPrefix(key, "on") || key == "style" || key == "srcdoc" || strings.Contains(key, "pwn"):
		t.Errorf("%s: <%s> has the attribute %s=%q", what, n.Data, a.Key, a.Val)
	case strings.HasPrefix(key, "data-") && strings.Contains(a.Val, "pwn"):
		t.Errorf("%s: code holds a stranger's text: %s=%q", what, a.Key, a.Val)
	case key == "href" || key == "src" || key == "action" || key == "formaction":
		u, err := url.Parse(a.Val)
		if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" || u.Scheme == "" && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
			t.Errorf("%s: <%s> leads to %s=%q", what, n.Data, a.Key, a.Val)
		}
		if u != nil && u.Host != "" && n.Data != "a" {
			t.Errorf("%s: <%s> loads %q", what, n.Data, a.Val)
		}
		if u != nil && u.Host != "" && !strings.Contains(attribute(n, "rel"), "noopener") {
			t.Errorf("%s: a link to %q has rel=%q", what, a.Val, attribute(n, "rel"))
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func TestSecretsAreNotRenderedAgain(t *testing.T) {
	w := newLogWriter("{}")
	w.ask(questions()["secret"])
	got := renderHTML(t, AskForm(w.openAsk(), []generators.FieldError{driver.At("key", "is too short")}, url.Values{"key": {"hunter2"}}))
	if strings.Contains(got, "hunter2") {
		t.Error("the form holds the secret that was typed")
	}
	if !strings.Contains(got, `autocomplete="new-password"`) || !strings.Contains(got, `type="password"`) {
		t.Error("the secret is not asked for as one")
	}
}

func TestPlainPagesNeedNoScript(t *testing.T) {
	c := testChrome()
	c.Script = ""
	w := fullRun()
	w.ask(questions()["form"])
	got := renderHTML(t, RunPage(c, w.run))
	for _, no := range []string{"<script", "Later", "data-signals"} {
		if strings.Contains(got, no) {
			t.Errorf("the plain page has %q", no)
		}
	}
	if !strings.Contains(renderHTML(t, RunPage(c, newLogWriter("{}").run)), `http-equiv="refresh"`) {
		t.Error("the plain page of a running run does not refresh")
	}
	if strings.Contains(got, `http-equiv="refresh"`) {
		t.Error("the plain page refreshes while a question is open")
	}
}

func TestFormsWithShadowingFields(t *testing.T) {
	w := newLogWriter("{}")
	w.ask(&askdata.Question{Kind: askdata.KindForm, Message: "?", Fields: askdata.Fields{{Name: "dataset", Type: "string"}}})
	if got := renderHTML(t, AskForm(w.openAsk(), nil, nil)); strings.Contains(got, `name="dataset"`) || !strings.Contains(got, "/asks/"+runID) {
		t.Error("the form stands in a page with script")
	}
	if got := renderHTML(t, AskPage(testChrome(), w.openAsk(), nil, nil)); !strings.Contains(got, `name="dataset"`) || strings.Contains(got, "<script") {
		t.Error("the form's own page has no form, or a script")
	}
}

// hostileForm returns a form with every kind of part, all of whose text is s.
func hostileForm(s string) *form.Part {
	quoted := func(schema string) *jsonschema.Schema {
		text, _ := json.Marshal(s)
		doc := new(jsonschema.Schema)
		if err := json.Unmarshal([]byte(strings.ReplaceAll(schema, `"S"`, string(text))), doc); err != nil {
			panic(err)
		}
		return doc
	}
	const about = `"title":"S","description":"S","examples":["S"],"default":"S"`
	doc := quoted(`{"type":"object","required":["o","S"],"properties":{
	  "S":{"type":"string",` + about + `,"pattern":"S","format":"S"},
	  "o":{"type":"object",` + about + `,"properties":{"S":{"type":"string",` + about + `}}},
	  "add":{"type":"object",` + about + `,"properties":{"S":{}}},
	  "l":{"type":"array",` + about + `,"items":{"type":"object","title":"S","properties":{"S":{"enum":["S",1]}}}},
	  "m":{"type":"object",` + about + `,"additionalProperties":{"type":"string"}},
	  "v":{"oneOf":[{"title":"S","type":"string"},{"type":"object","properties":{"S":{"const":"S"}}}]},
	  "j":{"type":"object",` + about + `},
	  "b":{"type":"boolean",` + about + `},"f":{"type":"string","contentEncoding":"base64",` + about + `}}}`)
	value, _ := json.Marshal(map[string]any{s: s, "o": map[string]any{s: s}, "l": []any{map[string]any{s: s}, s}, "m": map[string]any{s: s}, "v": map[string]any{s: s}, "j": s, "f": s, "b": s})
	return form.ForSchema(doc).Fill(value)
}

func hostileReplicas(s string) sharing.Status {
	about := sharing.About{Version: s, Program: s, Host: s, URL: s}
	return sharing.Status{
		Replicas:    []sharing.ReplicaStatus{{Peer: sharing.Peer{About: about, ID: s}}},
		Unclaimable: []sharing.Unclaimable{{Photon: s, Runs: 1}},
	}
}
