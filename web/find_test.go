package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	s := newSite(t, "", labelled)
	p := s.newSession()
	run := p.startAndEnd("labelled", `{"label":"quarterly report"}`)
	type found struct {
		Hits []struct{ Kind, Title, Detail, URL string }
	}
	find := func(p *browserSession, text string) found {
		return decodeJSON[found](t, p.requestJSON("GET", "/find?q="+url.QueryEscape(text), ""))
	}
	for text, want := range map[string]string{"quarterly": "Run " + run.URL, "inbox": "Page /asks", "labelled_nothing": "", "KITCHEN sink": "Photon /photons/kitchen_sink", "label": "Photon /photons/labelled, Run " + run.URL} {
		var got []string
		for _, h := range find(p, text).Hits {
			got = append(got, h.Kind+" "+h.URL)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
		if page := p.page("/find?q=" + url.QueryEscape(text)); strings.Contains(page, "Nothing matches.") != (want == "") {
			t.Errorf("%q: the page has other hits", text)
		}
	}
	if hits := find(p, "on").Hits; hits[0].Kind == "Document" || hits[len(hits)-1].Kind != "Document" {
		t.Errorf("documents aren't last: %v", hits)
	}
	if hits := find(s.newSession(), "quarterly").Hits; len(hits) != 0 {
		t.Errorf("a stranger finds %v", hits)
	}
	if all := find(p, "").Hits; len(all) < 10 {
		t.Errorf("without a text: %d hits", len(all))
	}
	if res := p.requestJSON("GET", "/find?q="+strings.Repeat("x", 300), ""); res.StatusCode != http.StatusBadRequest {
		t.Error(res.Status)
	}
}
