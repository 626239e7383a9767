package ui

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/photon-beam/beam/internal/cleantext"
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
