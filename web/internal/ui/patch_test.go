package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// A document is an open page. It applies patches as Datastar does, except that it
// replaces elements instead of morphing them.
type document struct {
	t    *testing.T
	root *html.Node
}

func openPage(t *testing.T, r *timeline.Run) *document {
	root, err := html.Parse(strings.NewReader(renderHTML(t, RunPage(testChrome(), r))))
	if err != nil {
		t.Fatal(err)
	}
	return &document{t, root}
}

func (d *document) byID(id string) *html.Node {
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && attribute(n, "id") == id {
			return n
		}
	}
	return nil
}

func (d *document) find(selector string) []*html.Node {
	var found []*html.Node
	for id := range strings.SplitSeq(selector, ",") {
		if n := d.byID(strings.TrimPrefix(id, "#")); n != nil {
			found = append(found, n)
		}
	}
	return found
}

func (d *document) apply(p Patch) {
	d.t.Helper()
	var nodes []*html.Node
	if p.Component != nil {
		var err error
		nodes, err = html.ParseFragment(strings.NewReader(renderHTML(d.t, p.Component)), &html.Node{Type: html.ElementNode, Data: "template", DataAtom: atom.Template})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	targets := d.find(p.Selector)
	if p.Mode != "outer" && len(targets) == 0 {
		d.t.Errorf("nothing in the page is %s, to %s", p.Selector, p.Mode)
		return
	}
	switch p.Mode {
	case "outer":
		d.replaceElements(nodes)
	case "inner":
		for c := targets[0].FirstChild; c != nil; c = targets[0].FirstChild {
			targets[0].RemoveChild(c)
		}
		fallthrough
	case "append":
		for _, n := range nodes {
			targets[0].AppendChild(n)
		}
	case "remove":
		if len(targets) != strings.Count(p.Selector, ",")+1 {
			d.t.Errorf("only %d of %s are in the page", len(targets), p.Selector)
		}
		for _, n := range targets {
			n.Parent.RemoveChild(n)
		}
	default:
		d.t.Errorf("a patch has the mode %q", p.Mode)
	}
}

func (d *document) replaceElements(nodes []*html.Node) {
	d.t.Helper()
	for _, n := range nodes {
		if n.Type != html.ElementNode {
			continue
		}
		old := d.byID(attribute(n, "id"))
		if old == nil {
			d.t.Errorf("nothing in the page has the id %q", attribute(n, "id"))
			continue
		}
		old.Parent.InsertBefore(n, old)
		old.Parent.RemoveChild(old)
	}
}

// outerHTML returns a part of the page as HTML, with adjacent texts joined.
func (d *document) outerHTML(id string) string {
	n := d.byID(id)
	if n == nil {
		return "(there is none)"
	}
	var b strings.Builder
	if err := html.Render(&b, n); err != nil {
		d.t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestPatchesMatchReload applies the patches of random runs in random batches, and
// compares the page with the one that a reload would show.
func TestPatchesMatchReload(t *testing.T) {
	for seed := range uint64(10) {
		withFrozenClock(t, func(t *testing.T) { checkRandomRun(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func checkRandomRun(t *testing.T, rnd *rand.Rand) {
	w := newLogWriter("{}")
	addRandomEntries(w, rnd, rnd.IntN(20))
	w.takeChanges()
	d := openPage(t, w.run)
	for range 1 + rnd.IntN(8) {
		size := rnd.IntN(12)
		if rnd.IntN(6) == 0 {
			size = 300 + rnd.IntN(400)
		}
		addRandomEntries(w, rnd, size)
		for _, p := range RunPatches(w.run, w.takeChanges()) {
			d.apply(p)
		}
		expectSamePage(t, d, w.run)
	}
	if rnd.IntN(2) == 0 {
		w.finish(runlog.Completed, `{"a":1}`, "")
		for _, p := range RunPatches(w.run, w.takeChanges()) {
			d.apply(p)
		}
		if d.byID("live") != nil {
			t.Error("the page of an ended run still follows it")
		}
		expectSamePage(t, d, w.run)
	}
}

// addRandomEntries adds random entries to a run.
func addRandomEntries(w *logWriter, rnd *rand.Rand, n int) {
	for range n {
		w.advance(time.Millisecond)
		switch k := rnd.IntN(20); {
		case k < 6:
			w.events(generators.Statusf("status %d", rnd.IntN(3)))
		case k < 9:
			w.events(generators.Chunk(fmt.Sprintf("<word %d>\n", rnd.IntN(100))))
		case k < 11:
			w.events(generators.Progress(float64(rnd.IntN(10)), 10, "going"))
		case k < 12:
			w.events(generators.Toast(generators.Info, "hey"))
		case k < 13:
			w.events(generators.Log(generators.Warning, map[string]int{"n": 1}))
		case k < 14:
			w.events(generators.File("a.txt", "text/plain", []byte("text")))
		case k < 15:
			w.events(generators.Chunk(strings.Repeat("long ", 3000)))
		case k < 17 && len(w.run.Open) < 4:
			w.ask(questions()["text"])
		case len(w.run.Open) > 0:
			a := w.run.Open[rnd.IntN(len(w.run.Open))]
			_, seq, _ := runlog.SplitAskID(a.ID)
			w.answer(seq, askdata.Accept, `{"key":"Ada"}`)
		}
	}
}

// expectSamePage compares the page with the one that a reload would show.
func expectSamePage(t *testing.T, d *document, r *timeline.Run) {
	t.Helper()
	fresh := openPage(t, r)
	for _, id := range []string{"run-head", "announce", "hidden", "timeline", "progress", "asks"} {
		if got, want := d.outerHTML(id), fresh.outerHTML(id); got != want {
			t.Fatalf("#%s is\n%s\nand a reload would show\n%s", id, differenceContext(got, want), differenceContext(want, got))
		}
	}
}

// differenceContext returns the part of a text where it starts to differ from another.
func differenceContext(s, other string) string {
	i := 0
	for i < len(s) && i < len(other) && s[i] == other[i] {
		i++
	}
	return "…" + s[max(0, i-200):min(len(s), i+400)]
}

func TestResyncMatchesReload(t *testing.T) {
	withFrozenClock(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(7, 7))
		w := newLogWriter("{}")
		addRandomEntries(w, rnd, 10)
		d := openPage(t, w.run)
		addRandomEntries(w, rnd, 900)
		for range 2 { // the second finds nothing to do
			for _, p := range ResyncPatches(w.run) {
				d.apply(p)
			}
			expectSamePage(t, d, w.run)
		}
	})
}

// describePatches summarizes the patches of a batch.
func describePatches(ps []Patch) []string {
	var list []string
	for _, p := range ps {
		list = append(list, strings.TrimSpace(p.Mode+" "+p.Selector))
	}
	return list
}

func TestPatchesAreFew(t *testing.T) {
	w := newLogWriter("{}")
	check := func(what string, want ...string) {
		t.Helper()
		if got := describePatches(RunPatches(w.run, w.takeChanges())); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	w.takeChanges()
	check("nothing")
	w.events(generators.Status("a"), generators.Status("b"))
	check("two statuses", "append #timeline")
	w.events(generators.Status("b"))
	check("the same again", "outer")
	w.events(generators.Progress(1, 2, ""), generators.Progress(2, 2, ""))
	check("progress", "outer")
	w.events(generators.Chunk("a"))
	check("a chunk, for which a full bar leaves", "append #timeline", "outer")
	w.events(generators.Chunk("b"), generators.Chunk("c"))
	check("more of it", "append #e-7-text")
	w.events(generators.Toast(generators.Info, "t"))
	check("a toast", "append #timeline", "append #toasts")
	seq := w.ask(questions()["text"])
	check("a question", "outer", "append #timeline", "append #asks", "inner #ask-"+runID+"-11-place")
	w.answer(seq, askdata.Decline, "")
	check("its answer", "outer", "outer", "remove #ask-"+runID+"-11")
	for i := range 600 {
		w.events(generators.Statusf("%d", i))
	}
	check("many", "outer", "remove #e-2,#e-3,#e-7,#e-10", "append #timeline")
	w.finish(runlog.Failed, "", "no")
	check("the end", "outer", "append #timeline", "outer", "remove #live")
}

func TestRowsAddedAndDroppedInABatchAreNotPatched(t *testing.T) {
	w := newLogWriter("{}")
	w.takeChanges()
	seq := w.ask(questions()["text"])
	w.answer(seq, askdata.Decline, "")
	for _, p := range RunPatches(w.run, w.takeChanges()) {
		if strings.Contains(p.Selector, "ask-") || p.Selector == "#asks" {
			t.Errorf("a question that was settled at once: %s %s", p.Mode, p.Selector)
		}
	}
}
