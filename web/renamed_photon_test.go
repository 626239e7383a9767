package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Runs of photons that were renamed are shown with the title, events and result that
// they had, while the old name is no longer found.
func TestRunsOfRenamedPhotonsAreShown(t *testing.T) {
	runs := runlog.NewMemory()
	old := generators.New("csv", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.Markdown("The rows", "ten rows"))
		return "the summary", nil
	}, &generators.Options{Title: "Explore a file of old"})
	signedIn := []string{"Authorization", "Bearer secret", "Content-Type", "application/json"}
	before := newSiteOn(t, runs, "secret", old).newSession()
	run := decodeJSON[startedRun](t, before.request("POST", "/photons/csv/runs", "{}", signedIn...))
	if events := readText(t, before.request("GET", run.Events, "", signedIn...)); !strings.Contains(events, "the summary") {
		t.Fatalf("the events are %s", events)
	}

	after := newSiteOn(t, runs, "secret")
	if err := after.engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := after.newSession()
	page := readText(t, p.request("GET", "/runs/"+run.ID, "", signedIn...))
	for _, want := range []string{"Explore a file of old", "The rows", "ten rows", "the summary"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the run doesn't contain %q: %s", want, page)
		}
	}
	if list := readText(t, p.request("GET", "/runs", "", signedIn...)); !strings.Contains(list, "Explore a file of old") {
		t.Errorf("the list of runs is %s", list)
	}
	for _, name := range []string{"csv", "disk", "kitchen-sink"} {
		expectStatus(t, p.request("GET", "/photons/"+name, "", signedIn...), http.StatusNotFound)
	}
}
