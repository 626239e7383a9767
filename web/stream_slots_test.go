package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// openStream opens a page's stream, as a new page or, with the id of the last event, as a
// reconnecting one.
func (p *browserSession) openStream(path, last string) (lines *bufio.Scanner, leave func()) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Datastar-Request", "true")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	expectStatus(p.t, res, http.StatusOK)
	lines = bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	return lines, func() { cancel(); res.Body.Close() }
}

// readLineWith reads to a line that contains a text; false if there is none.
func readLineWith(lines *bufio.Scanner, text string) bool {
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return true
		}
	}
	return false
}

const reconnectSoon = "_reconnecting: true"

func TestOnlySomePagesOfABrowserKeepTheirStream(t *testing.T) {
	p := newSite(t, "").newSession()
	p.request("GET", "/", "")
	run := p.startRun("wizard", "{}")
	p.follow(run.Events, "", isElicitation)
	var pages []*bufio.Scanner
	for range 4 {
		lines, leave := p.openStream(run.Events, "")
		defer leave()
		if !readLineWith(lines, "Submit") {
			t.Fatal("a page with a slot did not receive the question")
		}
		pages = append(pages, lines)
	}

	lines, leave := p.openStream("/updates?page=asks", "1")
	defer leave()
	if !readLineWith(lines, "retry: 1000") || !readLineWith(lines, reconnectSoon) {
		t.Error("a reconnecting fifth page is not told to reconnect soon")
	}
	readLineWith(lines, "nothing: it ends")

	newest, leaveNewest := p.openStream("/updates?page=asks", "")
	if !readLineWith(newest, `id="list"`) {
		t.Error("the newest page received nothing")
	}
	if !readLineWith(pages[0], "retry: 1000") || !readLineWith(pages[0], reconnectSoon) {
		t.Error("the oldest page keeps its slot, or is not told when to reconnect")
	}
	leaveNewest()

	other := newSite(t, "").newSession()
	other.request("GET", "/", "")
	for range 4 {
		lines, leave := other.openStream("/updates?page=asks", "1")
		defer leave()
		if !readLineWith(lines, `id="list"`) {
			t.Error("another browser's page received nothing")
		}
	}
}

// TestAPageWithoutASlotMissesNothing checks that a page without a slot receives everything
// once, in as many requests as it takes.
func TestAPageWithoutASlotMissesNothing(t *testing.T) {
	const parts, events = 20, 30
	talker := generators.New("talker", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		for part := range parts {
			for i := range events {
				yield(generators.Statusf("said %d", part*events+i))
			}
			if _, err := ask.Confirm(yield, "go", "Go on?"); err != nil {
				return "", err
			}
		}
		return "done", nil
	}, nil)
	p := newSite(t, "", talker).newSession()
	p.request("GET", "/", "")
	for range 4 {
		lines, leave := p.openStream("/updates?page=home", "")
		defer leave()
		readLineWith(lines, "recent")
	}
	run := p.startRun("talker", "{}")
	received := make(map[string]int)
	last, after := "1", ""
	for range parts {
		for _, e := range p.follow(run.Events, after, isElicitation) {
			after = e.id
		}
		lines, leave := p.openStream(run.Events, last)
		last = readPageStream(t, lines, received)
		leave()
		asked := decodeJSON[struct{ Asks []struct{ ID string } }](t, p.requestJSON("GET", run.URL, ""))
		expectStatus(t, p.answerRPC(asked.Asks[0].ID, acceptResult(`{"go":true}`)), http.StatusAccepted)
	}
	for i := range parts * events {
		if n := received[fmt.Sprintf("said %d", i)]; n != 1 {
			t.Fatalf("said %d was sent %d times", i, n)
		}
	}
	if strings.Contains(last, "+") {
		t.Errorf("a complete stream ends with the id %s", last)
	}
}

var statusRow = regexp.MustCompile(`>\s*(said \d+)\s*<`)

// readPageStream reads a stream to its end, counts the rows added, and returns the last id.
func readPageStream(t *testing.T, lines *bufio.Scanner, received map[string]int) (last string) {
	t.Helper()
	asked, adds := false, false
	for lines.Scan() {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			last = id
		}
		if strings.HasPrefix(line, "data: mode") {
			adds = line == "data: mode append"
		}
		for _, said := range statusRow.FindAllStringSubmatch(line, -1) {
			if adds {
				received[said[1]]++
			}
		}
		asked = asked || strings.Contains(line, reconnectSoon)
	}
	if !asked {
		t.Error("a stream does not say to reconnect")
	}
	return last
}

// TestAPartlyPatchedPageIsRedrawn checks that a page whose connection broke within a batch
// gets the whole run again.
func TestAPartlyPatchedPageIsRedrawn(t *testing.T) {
	p := newSite(t, "").newSession()
	p.request("GET", "/", "")
	run := p.startRun("wizard", "{}")
	p.follow(run.Events, "", isElicitation)
	lines, leave := p.openStream(run.Events, "1+")
	defer leave()
	if !readLineWith(lines, "mode inner") {
		t.Error("the timeline is not sent again")
	}
	whole, leaveWhole := p.openStream(run.Events, "1")
	defer leaveWhole()
	if !readLineWith(whole, "mode append") {
		t.Error("a page whose connection ended between two batches does not get just the rest")
	}
}
