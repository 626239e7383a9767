package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// listed is a page of a list as JSON.
type listed struct {
	Runs []struct{ ID, Photon, State string }
	Asks []struct{ ID string }
	Next string
}

func (p *browserSession) list(path string) listed {
	p.t.Helper()
	res := p.requestJSON("GET", path, "")
	if res.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s", path, res.Status)
	}
	return decodeJSON[listed](p.t, res)
}

// The list of runs has a way to the last of them, in JSON and as links on the pages, and
// no run twice.
func TestRunsArePagedToTheEnd(t *testing.T) {
	p := newSite(t, "", labelled).newSession()
	const all = 61
	for i := range all {
		p.startAndEnd("labelled", fmt.Sprintf(`{"label":"run %d."}`, i))
	}
	seen := map[string]bool{}
	for path := "/runs?limit=7"; path != ""; {
		page := p.list(path)
		for _, r := range page.Runs {
			if seen[r.ID] {
				t.Fatalf("%s is listed twice", r.ID)
			}
			seen[r.ID] = true
		}
		if path = ""; page.Next != "" {
			path = "/runs?limit=7&after=" + url.QueryEscape(page.Next)
		}
	}
	if len(seen) != all {
		t.Errorf("%d runs are listed, want %d", len(seen), all)
	}
	onPages, path := 0, "/runs"
	older := regexp.MustCompile(`href="([^"]*after=[^"]*)">\s*Older runs`)
	for path != "" {
		html := p.page(path)
		onPages += strings.Count(html, `class="row-text"`)
		if m := older.FindStringSubmatch(html); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		} else {
			path = ""
		}
	}
	if onPages != all {
		t.Errorf("%d runs are on the pages, want %d", onPages, all)
	}
}

// page returns a page as a browser gets it.
func (p *browserSession) page(path string) string {
	p.t.Helper()
	res := p.request("GET", path, "", "Accept", "text/html")
	if res.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s", path, res.Status)
	}
	return readText(p.t, res)
}

func TestRunsAreFiltered(t *testing.T) {
	p := newSite(t, "", labelled, many).newSession()
	p.startAndEnd("labelled", `{"label":"quarterly report"}`)
	p.startAndEnd("labelled", `{"label":"bad"}`)
	p.startAndEnd("many", `{"count":1}`)
	for query, want := range map[string]int{
		"":                               3,
		"tool=LABEL":                     2,
		"tool=many":                      1,
		"state=failed":                   1,
		"q=quarterly":                    1, // of the input
		"q=no+luck":                      1, // of the error
		"q=quarterly&state=failed":       0,
		"reason=declined":                0,
		"since=2000-01-01":               3,
		"until=2000-01-01":               0,
		"since=2999-01-01T00:00:00Z":     0,
		"caller=nobody":                  0,
		"caller=session&tool=labelled":   2,
		"tool=many&since=2000-01-01":     1,
		"q=" + url.QueryEscape("' + \""): 0,
	} {
		if got := p.list("/runs?" + query).Runs; len(got) != want {
			t.Errorf("%q: %d runs, want %d", query, len(got), want)
		}
		if html := p.page("/runs?" + query); strings.Count(html, `class="row-text"`) != want {
			t.Errorf("%q: the page hasn't %d runs", query, want)
		}
	}
	for query, want := range map[string]string{
		"state=gone": "state must be one of running", "reason=gone": "reason must be one of declined", "since=yesterday": "since must be a date such as", "after=x": "after is not from this list",
		"limit=0": "limit must be a number from 1", "q=" + strings.Repeat("x", 201): "q must be at most",
	} {
		res := p.requestJSON("GET", "/runs?"+query, "")
		if text := readText(t, res); res.StatusCode != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%q: %s %s", query, res.Status, text)
		}
	}
}

// Recent runs show what tells them apart: the input or, if there is none, the first answer.
func TestListsShowWhatTellsRunsApart(t *testing.T) {
	file := generators.New("file", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		f, err := ask.File(yield, "file", "Which file?")
		if err != nil {
			return "", err
		}
		return f.Name, nil
	}, nil)
	p := newSite(t, "", labelled, file).newSession()
	p.startAndEnd("labelled", `{"label":"quarterly report"}`)
	run := p.startRun("file", "")
	if p.uploadFile(p.waitForAsk(run, 1), "sales of may.csv", "a,b\n1,2\n"); !strings.Contains(p.page("/"), "quarterly report") {
		t.Error("the input isn't shown")
	}
	readText(t, p.request("GET", run.Events, ""))
	if html := p.page("/"); !strings.Contains(html, "sales of may.csv") {
		t.Error("the file's name isn't shown")
	}
}

func TestAsksArePaged(t *testing.T) {
	question := generators.New("question", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Really?")
	}, nil)
	p := newSite(t, "", question).newSession()
	for range 5 {
		p.waitForAsk(p.startRun("question", ""), 1)
	}
	seen := map[string]bool{}
	for path := "/asks?limit=2"; path != ""; {
		page := p.list(path)
		for _, a := range page.Asks {
			seen[a.ID] = true
		}
		if path = ""; page.Next != "" {
			path = "/asks?limit=2&after=" + page.Next
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d questions are listed", len(seen))
	}
	for query, want := range map[string]int{"q=really": 5, "q=never": 0, "tool=question": 5, "tool=other": 0, "until=2000-01-01": 0} {
		if got := p.list("/asks?" + query).Asks; len(got) != want {
			t.Errorf("%q: %d questions, want %d", query, len(got), want)
		}
	}
}
