package ui

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// hidden is a text with one of each kind of what nobody sees, or what reorders other text.
const hidden = "pwn\u202etxt.exe\u202c\u2800|\u3164|\u200b|\u200e|\u061c|\u00ad|\U000e0041|\u009b|\u2066"

// Whatever people read on a page shows what is invisible in it. Fields have what is sent.
func TestPagesShowWhatIsInvisible(t *testing.T) {
	pages := hostilePages(hidden)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		checkVisible(t, name, renderHTML(t, pages[name]))
	}
	w := hostileRun(hidden)
	for _, p := range append(RunPatches(w.run, w.changes), ResyncPatches(w.run)...) {
		if p.Component != nil {
			checkVisible(t, p.Mode+" "+p.Selector, renderHTML(t, p.Component))
		}
	}
}

// Who asks is named by the names that Beam gives, whatever a tool calls itself, and what Beam says
// about the question stands apart.
func TestPagesNameWhoAsks(t *testing.T) {
	q := askdata.Question{Kind: askdata.KindConfirm, Message: "Go?", Fields: askdata.Fields{{Name: "go", Type: "boolean"}}, Server: "weather", Tool: "weather__get", Note: "It may be another's."}
	unsure, local := q, q
	unsure.Tool, local.Server, local.Tool, local.Note = "", "", "", ""
	for want, q := range map[string]*askdata.Question{"The tool get of the server weather": &q, "The server weather": &unsure, "Beam security": &local} {
		o := engine.OpenAsk{ID: "a.1", Run: "a", Photon: "weather__get", Title: "Beam security", Asked: runlog.Asked{Key: "go", Question: q}}
		for name, page := range map[string]templ.Component{
			"page": AskPage(testChrome(), o, nil, nil), "inbox": Inbox(testChrome(), InboxPage{Asks: []InboxLine{{OpenAsk: o}}}), "chat": ChatQuestion(o, ChatQuestionOptions{Accept: true}, nil, nil),
			"closed": AskClosed(&timeline.Ask{OpenAsk: o, State: timeline.Answered}), "unavailable": AskUnavailable(o, "It is closed."),
		} {
			got := renderHTML(t, page)
			if has := strings.Contains(got, want); !has && (name != "chat" || q.Server != "") || q.Server != "" && strings.Contains(got, "Beam security") {
				t.Errorf("%s of %s: %s", name, want, got)
			}
			if strings.Contains(got, "It may be another") != (q.Note != "" && (name == "page" || name == "chat" || name == "inbox")) {
				t.Errorf("%s of %s: Beam's note is in %s", name, want, got)
			}
		}
	}
}

// checkVisible checks all of a page's text, and the attributes that are read aloud or shown.
func checkVisible(t *testing.T, what, page string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	check := func(where, text string) {
		if shown := cleantext.Text(text); shown != text {
			t.Errorf("%s: %s has %+q", what, where, text)
		}
	}
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.TextNode && n.Parent.Data != "textarea":
			check("<"+n.Parent.Data+" class="+attribute(n.Parent, "class")+">", n.Data)
		case n.Type == html.ElementNode:
			for _, a := range n.Attr {
				if slices.Contains([]string{"title", "alt", "aria-label", "placeholder", "label", "aria-description", "download"}, a.Key) {
					check("<"+n.Data+" "+a.Key+">", a.Val)
				}
			}
		}
	}
}
