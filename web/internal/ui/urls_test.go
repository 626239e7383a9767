package ui

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/links"
)

var ownURL = regexp.MustCompile(`(?:href="|action="|src="|@get\((?:'|&#39;)|@post\((?:'|&#39;))(/[^"'&]*)`)

// TestURLsHaveTheBase renders every page and form with a base, which must begin every
// URL of the site.
func TestURLsHaveTheBase(t *testing.T) {
	c := testChrome()
	c.Script, c.OwnScript, c.Style, c.Icon = "/base"+c.Script, "/base"+c.OwnScript, "/base"+c.Style, "/base"+c.Icon
	c.Modules = []string{"/base" + c.Modules[0]}
	w := fullRun()
	pages := map[string]templ.Component{
		"home":   Home(c, HomePage{Count: 1, Found: 1, Photons: []PhotonCard{{Name: "explore_csv"}}}),
		"photon": PhotonDetails(c, PhotonPage{Form: form.FromFields(nil, nil), Name: "explore_csv"}),
		"runs":   Runs(c, RunsPage{Runs: []RunLine{{Info: engine.Info{ID: runID}}}}),
		"none":   Runs(c, RunsPage{RunFilter: RunFilter{State: "failed"}, After: "1-a", Next: "1-b"}),
		"run":    RunPage(c, w.run),
		"gone":   RunGone(),
		"login":  Login(c, LoginPage{Token: true}),
		"error":  ErrorPage(c, 404, "Not found", "Page not found.", Link{"/base/", "Show all photons"}),
	}
	for _, kind := range slices.Sorted(maps.Keys(questions())) {
		w := newLogWriter("{}")
		w.ask(questions()[kind])
		pages["form "+kind] = AskForm(w.openAsk(), nil, nil)
		pages["page "+kind] = AskPage(c, w.openAsk(), nil, url.Values{})
		pages["run with "+kind] = RunPage(c, w.run)
		pages["inbox with "+kind] = Inbox(c, InboxPage{Asks: []InboxLine{{OpenAsk: w.openAsk()}}, After: "1-a", Next: "1-b"})
		id := w.openAsk().ID
		w.answer(2, askdata.Decline, "")
		pages["closed "+kind] = AskClosedPage(c, w.run.Ask(id), nil)
	}
	for kind, events := range shownArtifacts() {
		w := newLogWriter("{}")
		w.events(events)
		pages["artifact "+kind] = RunPage(c, w.run)
	}
	for name, page := range pages {
		var b strings.Builder
		if err := page.Render(links.WithBase(t.Context(), "/base"), &b); err != nil {
			t.Fatal(err)
		}
		found := ownURL.FindAllStringSubmatch(b.String(), -1)
		if len(found) == 0 {
			t.Errorf("%s: no URL found", name)
		}
		for _, m := range found {
			if !strings.HasPrefix(m[1], "/base/") {
				t.Errorf("%s: %s lacks the base", name, m[0])
			}
		}
	}
}
