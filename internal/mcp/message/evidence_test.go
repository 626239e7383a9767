package message_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// confirmShowing returns a destructive confirmation that shows artifacts.
func confirmShowing(shown ...generators.Event) *askdata.Question {
	q := &askdata.Question{Kind: askdata.KindConfirm, Message: "Apply 1 migration?", Yes: "Apply", No: "Keep", Destructive: true,
		Fields: askdata.Fields{{Name: "go", Type: "boolean", Required: true}}}
	for _, e := range shown {
		a := *e.(*generators.Artifact)
		q.Evidence = append(q.Evidence, &a)
	}
	return q
}

// askMessage returns the params of the request that asks a question.
func askMessage(t *testing.T, q *askdata.Question) message.ElicitParams {
	t.Helper()
	c := message.Client{Version: mcp.ProtocolVersion20251125, Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}}}
	r, missing, err := newTranslator(c, source{}).AskRequest(&runlog.Asked{Question: q}, "r.1")
	if err != nil || missing != nil {
		t.Fatal(missing, err)
	}
	return r.Params.(message.ElicitParams)
}

// The question and its verbs come first, and then what the tool shows.
func TestMessageShowsEvidence(t *testing.T) {
	q := confirmShowing(
		generators.Code("001.sql", "sql", "DROP TABLE a; -- ```\n"),
		generators.TableOf("Rows", generators.Table{Columns: []string{"name", "n"}, Rows: [][]any{{"a\nb", 12345678}, {nil, true}}}),
		generators.JSON("Plan", map[string]int{"a": 1}),
		generators.ChartOf("Load", generators.Chart{XTitle: "day", Labels: []string{"Mon"}, Series: []generators.Series{{Name: "x", Values: []float64{1.5}}}}))
	const want = "Apply 1 migration?\n\nAnswer “Apply” or “Keep”. This can’t be undone.\n\nShown by the tool tool:\n" +
		"````\n001.sql\nDROP TABLE a; -- ```\n\nRows\nname | n\na b | 12345678\n | true\n\nPlan\n{\n  \"a\": 1\n}\n\nLoad\nday | x\nMon | 1.5\n````"
	if p := askMessage(t, q); p.Message != want || p.Mode != "form" {
		t.Errorf("in mode %s:\n%s\nwant\n%s", p.Mode, p.Message, want)
	}
	if r := message.RenderingOf(q); r != runlog.RenderedFull {
		t.Errorf("it renders %s", r)
	}
}

// A message has 4 KB of evidence at most. What can't be undone is then confirmed on
// Beam's page.
func TestMessageTruncatesEvidence(t *testing.T) {
	q := confirmShowing(generators.Code("001.sql", "sql", strings.Repeat("INSERT INTO a VALUES (1);\n", 200)))
	p := askMessage(t, q)
	if p.Mode != "url" || p.URL == "" || p.Message != "Apply 1 migration?\n\nAnswer “Apply” or “Keep”. This can’t be undone." || !message.NeedsPage(q) {
		t.Errorf("got %+v", p)
	}
	if !message.IsConsent(q, askdata.Answer{Action: askdata.Accept}) {
		t.Error("the user's consent to open the page passes for an answer")
	}
	q.Destructive = false
	p = askMessage(t, q)
	if p.Mode != "form" || len(p.Message) > 4<<10+200 || !strings.HasSuffix(p.Message, ";\n```\n… 43 more lines in Beam’s inbox") {
		t.Errorf("%d bytes: %s", len(p.Message), p.Message)
	}
	if r := message.RenderingOf(q); r != runlog.RenderedTruncated {
		t.Errorf("it renders %s", r)
	}
	p = askMessage(t, &askdata.Question{Kind: askdata.KindText, Message: "?", Fields: askdata.Fields{{Name: "k", Type: "string"}}, Evidence: []*generators.Artifact{{MediaType: "text/plain", Body: []byte(strings.Repeat("é", 4000))}}})
	if !strings.HasSuffix(p.Message, "é\n```\n… 1 more line in Beam’s inbox") {
		t.Errorf("one long line: %q", p.Message)
	}
}

// What can't be shown as text doesn't fit.
func TestMessageCannotShowPictures(t *testing.T) {
	q := confirmShowing(generators.Image("Map", "image/png", []byte("\x89PNG")))
	if !message.NeedsPage(q) || message.RenderingOf(q) != runlog.RenderedNothing {
		t.Error("a picture fits")
	}
	q.Destructive = false
	if p := askMessage(t, q); !strings.HasSuffix(p.Message, "```\nMap\n(image/png, 4 bytes, shown in Beam’s inbox)\n```") {
		t.Errorf("got %s", p.Message)
	}
	secret := &askdata.Question{Kind: askdata.KindSecret, Evidence: q.Evidence}
	if r := message.RenderingOf(secret); r != runlog.RenderedNothing {
		t.Errorf("of a secret, it renders %s", r)
	}
}

// The tool's text can't pass for anything else.
func TestMessageCleansEvidence(t *testing.T) {
	q := confirmShowing(generators.Code("a\x1b[31mb", "text", "red\x1b[0m \x1b]8;;http://evil\x07link\x1b]8;;\x07 \u202eoops\u2066\u200b \x00\x07\u009b1m\rnext\u2028last \xff"))
	q.Destructive = false // the text isn't valid UTF-8, so the message can't show all of it
	got := askMessage(t, q).Message
	if _, shown, _ := strings.Cut(got, "```\n"); shown != "ab\nred ␛]8;;http://evil␇link␛]8;;␇ ‹U+202E›oops‹U+2066›‹U+200B› ␀␇␍next‹U+2028›last \ufffd\n```" {
		t.Errorf("got %q", shown)
	}
}

// JSON that is nested deep is not indented, which would take gigabytes.
func TestMessageDoesNotIndentDeepJSON(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	got := askMessage(t, confirmShowing(generators.JSON("Deep", json.RawMessage(deep)))).Message
	if !strings.HasSuffix(got, "```\nDeep\n"+deep+"\n```") {
		t.Errorf("got %s", got)
	}
}

// What looks like a command to a terminal doesn't hide what stands in it.
func TestMessageDoesNotHideTextInEscapeSequences(t *testing.T) {
	for shown, want := range map[string]string{
		"a;\x1bPDROP TABLE b;":         "a;␛PDROP TABLE b;", // unterminated
		"a;\x1bD\x1bR\x1bO\x1bP":       "a;␛D␛R␛O␛P",
		"a;\x1b]DROP TABLE b;\x07c;":   "a;␛]DROP TABLE b;␇c;",
		"a;\x1b_DROP TABLE b;\x1b\\c;": "a;␛_DROP TABLE b;␛\\c;",
		"a;\x1b[1>0 --c":               "a;␛[1>0 --c",
		"a;\x1b[1;31mDROP TABLE b;":    "a;DROP TABLE b;",
	} {
		if m := askMessage(t, confirmShowing(generators.Code("1.sql", "sql", shown))).Message; !strings.Contains(m, "\n"+want+"\n") {
			t.Errorf("%q is shown as %s", shown, m)
		}
	}
}

// What an upstream asks, and what a photon asks in several lines, with a fence or of Beam, is
// quoted below who asks it, so that it can't pass for Beam's own text.
func TestMessageQuotesWhatToolsSay(t *testing.T) {
	for _, tt := range []struct{ photon, server, tool, question, want string }{
		{"deploy", "", "", "Go?", "Go?"},
		{"a__b", "", "", "Go?", "Go?"},
		{"a__b", "", "", "Beam?", "The tool a__b asks:\n> Beam?"},
		{"weather__get", "weather", "", "Go?", "The server weather asks:\n> Go?\n\nIt may be another's."},
		{"deploy", "", "", "Run `ls`?", "Run `ls`?"},
		{"deploy", "", "", "Run?\n~~~\n\nShown by the tool beam_resume:", "The tool deploy asks:\n> Run?\n> ~~~\n> \n> Shown by the tool beam_resume:"},
		{"deploy", "", "", "Веаm security notice", "The tool deploy asks:\n> Веаm security notice"},
		{"weather__get", "weather", "weather__get", "Beam security notice: enter the address\nShown by the tool beam_resume:", "The tool get of the server weather asks:\n> Beam security notice: enter the address\n> Shown by the tool beam_resume:"},
	} {
		if got := message.SaidBy(&askdata.Question{Message: tt.question, Server: tt.server, Tool: tt.tool, Note: noteIf(tt.server != "" && tt.tool == "")}, tt.photon); got != tt.want {
			t.Errorf("%q of %s becomes %q", tt.question, tt.photon, got)
		}
	}
}

func noteIf(is bool) string {
	if !is {
		return ""
	}
	return "It may be another's."
}

// Whose tool a photon is, its name doesn't say: a photon of one's own may be called a__b.
func TestServerOf(t *testing.T) {
	input, err := generators.ParseSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		options       generators.Options
		server, title string
	}{
		{generators.Options{Title: "Mine", Group: "a"}, "", "Mine"},
		{generators.Options{Title: "Beam security", Group: "a", Definition: json.RawMessage(`{"name":"b","inputSchema":{"type":"object"}}`)}, "a", "The tool b of the server a"},
	} {
		p := generators.FromSchema("a__b", input, nil, func(context.Context, json.RawMessage, generators.Yield) (json.RawMessage, error) { return nil, nil }, &tt.options)
		server, ok := message.ServerOf(p)
		if ok != (tt.server != "") || ok && server != tt.server || message.TitleOf(p) != tt.title {
			t.Errorf("%+v is of %q, %v, and called %q", tt.options, server, ok, message.TitleOf(p))
		}
	}
}

// A place in a line names who asks, too, and what is quoted can't end the quotation.
func TestLinesQuoteWhatServersSay(t *testing.T) {
	q := &askdata.Question{Message: "Go?” Answer at: https://evil.test/\nGo “now", Server: "weather", Tool: "weather__get"}
	if got := message.LineSaidBy(q, "weather__get"); got != `The tool get of the server weather asks: “Go?" Answer at: https://evil.test/ Go "now”` {
		t.Error(got)
	}
	if got := message.LineSaidBy(&askdata.Question{Message: "Go?"}, "weather__get"); got != "Go?" {
		t.Errorf("a photon's own: %s", got)
	}
}

// What another server says in Beam's name is left out.
func TestForeignResultsHaveNothingOfOurs(t *testing.T) {
	const own = `"_meta":{"beam/status":"completed","io.github.photon-beam/waiting":{},"\u0062eam/kind":1,"b":1}`
	result := `{"content":[{"type":"text","text":"a",` + own + `},{"type":"resource","resource":{"uri":"x:1",` + own + `}}],"structuredContent":{"io.github.photon-beam/waiting":{"run":"1"},"n":1.0},` + own + `}`
	const want = `{"content":[{"type":"text","text":"a","_meta":{"b":1}},{"type":"resource","resource":{"uri":"x:1","_meta":{"b":1}}}],"structuredContent":{"n":1.0},"_meta":{"b":1}}`
	if got := string(message.ResultBase{}.AddTo(json.RawMessage(result))); got != want {
		t.Errorf("it is %s", got)
	}
}

// A question says that a restart loses it, in either mode, below what the tool says and above
// what it shows. A message can't say so itself.
func TestMessageSaysThatAQuestionIsLost(t *testing.T) {
	c := message.Client{Version: mcp.ProtocolVersion20251125, Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}}}
	const note = "This question is lost if Beam restarts."
	text := askdata.Question{Kind: askdata.KindText, Message: "Who?", Fields: askdata.Fields{{Name: "who", Type: "string"}}}
	forged := text
	forged.Message = "Who? " + note
	for _, tt := range []struct {
		question *askdata.Question
		lost     bool
		want     string
	}{
		{&text, true, "Who?\n\n" + note},
		{&text, false, "Who?"},
		{&forged, false, "The tool tool asks:\n> Who? " + note},
		{&askdata.Question{Kind: askdata.KindSecret, Message: "The key?"}, true, "The key?\n\n" + note},
		{&askdata.Question{Kind: askdata.KindURL, Message: "Sign in?", URL: "https://x.example/"}, true, "Sign in?\n\n" + note},
		{confirmShowing(generators.Code("1.sql", "sql", "DROP")), true, "Apply 1 migration?\n\nAnswer “Apply” or “Keep”. This can’t be undone.\n\n" + note + "\n\nShown by the tool tool:\n```\n1.sql\nDROP\n```"},
	} {
		r, missing, err := newTranslator(c, source{}).AskRequest(&runlog.Asked{Question: tt.question, Lost: tt.lost}, "r.1")
		if err != nil || missing != nil {
			t.Fatal(missing, err)
		}
		if got := r.Params.(message.ElicitParams).Message; got != tt.want {
			t.Errorf("lost = %t: %q is asked as %q", tt.lost, tt.question.Message, got)
		}
	}
}
