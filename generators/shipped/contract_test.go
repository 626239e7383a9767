package shipped_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/generators/shipped/bookdinner"
	"github.com/photon-beam/beam/generators/shipped/csv"
	"github.com/photon-beam/beam/generators/shipped/disk"
	"github.com/photon-beam/beam/generators/shipped/githubuser"
	"github.com/photon-beam/beam/generators/shipped/kitchensink"
	"github.com/photon-beam/beam/generators/shipped/parallel"
	"github.com/photon-beam/beam/generators/shipped/preferences"
	"github.com/photon-beam/beam/generators/shipped/summarize"
	"github.com/photon-beam/beam/generators/shipped/wizard"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/form"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// A conversation is a run in which a photon asks its questions.
type conversation struct {
	photon *generators.Photon
	args   any
	script beamtest.Script
}

func conversations() []conversation {
	sales := beamtest.File{Name: "sales.csv", MediaType: "text/csv", Content: []byte("date;price\n1/2/2026;1.234\n3/4/2026;5.678\n")}
	all := []conversation{
		{bookdinner.Photon, bookdinner.Dinner{Date: "2026-11-22", Time: "19:00"}, beamtest.Script{"partySize": beamtest.Accept(4)}},
		{csv.Photon, nil, beamtest.Script{"file": beamtest.Accept(sales), "numbers": beamtest.Accept("point"), "dates": beamtest.Accept("day"),
			"view": beamtest.Accept(csv.Choice{Columns: []string{"price"}, Summary: "sum", GroupBy: "date"}), "another": beamtest.Accept(false)}},
		{disk.Photon, nil, beamtest.Script{"list": beamtest.Accept("types")}},
		{githubuser.Photon, nil, beamtest.Script{"name": beamtest.Accept("octocat")}},
		{parallel.Photon, nil, beamtest.Script{"name": beamtest.Accept("Ada"), "color": beamtest.Accept("red"), "number": beamtest.Accept(1)}},
		{preferences.Photon, nil, beamtest.Script{"preferences": beamtest.Accept(preferences.Preferences{OutputFormat: "json"})}},
		{summarize.Photon, summarize.Input{Sentences: 1}, beamtest.Script{"text": beamtest.Accept("A long story."), "summary": beamtest.Accept("Short.")}},
		{wizard.Photon, nil, beamtest.Script{"name": beamtest.Accept("Ada"), "confirm": beamtest.Accept(true),
			"account": beamtest.Accept(wizard.Account{Email: "ada@example.org", Role: "editor"})}},
	}
	for _, v := range kitchensink.Photon.Input().Document().Properties["ask"].Enum {
		kind := v.(string)
		decline := beamtest.Script{kind: beamtest.Decline(), "name": beamtest.Decline(), "environment": beamtest.Decline()}
		all = append(all, conversation{kitchensink.Photon, kitchensink.Choice{Ask: kind}, decline})
	}
	return all
}

// TestContracts compares what clients and their models rely on with golden files: the
// arguments of each photon, and the forms, files and requests of its questions.
func TestContracts(t *testing.T) {
	found := map[string]bool{}
	for _, p := range shipped.Photons() {
		compareGolden(t, found, p.Name(), "input", p.Input())
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range conversations() {
		o := beamtest.RunContext(beamtest.WithRoot(t.Context(), folder), t, c.photon, c.args, c.script)
		if o.Err != nil {
			t.Errorf("%s: %v", c.photon.Name(), o.Err)
		}
		for _, key := range slices.Sorted(maps.Keys(o.Questions)) {
			raw, err := json.Marshal(o.Questions[key])
			if err != nil {
				t.Fatal(err)
			}
			q := new(askdata.Question)
			if err := json.Unmarshal(raw, q); err != nil {
				t.Fatal(err)
			}
			if len(q.Fields) > 0 {
				compareGolden(t, found, c.photon.Name(), key, form.RequestedSchemaOf(q))
			}
			if q.File != nil {
				compareGolden(t, found, c.photon.Name(), key+"-file", q.File)
			}
			if q.Sample != nil {
				compareGolden(t, found, c.photon.Name(), key+"-request", asking.SampleOf(q))
			}
		}
	}
	files, err := filepath.Glob("testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !found[filepath.ToSlash(f)] {
			t.Errorf("%s is of no photon's question: delete it", f)
		}
	}
}

// compareGolden compares a value with testdata/PHOTON/NAME.json. With the flag -update,
// it writes the file instead.
func compareGolden(t *testing.T, found map[string]bool, photon, name string, value any) {
	t.Helper()
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	file := strings.Join([]string{"testdata", photon, name + ".json"}, "/")
	found[file] = true
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update creates it)", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s has changed (go test -update accepts it).\ngot:\n%s\nwant:\n%s", file, got.Bytes(), want)
	}
}
