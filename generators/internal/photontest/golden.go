package photontest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/form"
)

// update is the only global here: package flag wants it before main runs.
var update = flag.Bool("update", false, "write the golden files under testdata anew")

// Golden compares a JSON value with testdata/NAME.json, or writes it there if
// the test runs with -update.
func Golden(t testing.TB, name string, value json.RawMessage) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, value, "", "  "); err != nil {
		t.Fatalf("%s is no JSON: %v", name, err)
	}
	got.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s has changed (go test -update accepts it).\ngot:\n%s\nwant:\n%s", file, got.Bytes(), want)
	}
}

// GoldenPhoton holds a photon's input schema and all that it asked in a play
// against golden files: input.json, and KEY.json for each question that has
// fields.
func GoldenPhoton(t testing.TB, p *generators.Photon, play *Outcome) {
	t.Helper()
	input, err := json.Marshal(p.Input())
	if err != nil {
		t.Fatal(err)
	}
	Golden(t, "input", input)
	for key, q := range play.Asked {
		if len(q.Fields) > 0 {
			Golden(t, key, form.RequestedSchema(q.Fields))
		}
	}
}

// CheckPhoton tells what every shipped photon must have: a place in a
// registry, a title and a description for people.
func CheckPhoton(t testing.TB, p *generators.Photon) {
	t.Helper()
	if _, err := generators.NewRegistry(p); err != nil {
		t.Error(err)
	}
	o := p.Options()
	if o.Title == "" || o.Description == "" {
		t.Errorf("photon %s has no title or no description", p.Name())
	}
	if o.ReadOnly && o.Destructive {
		t.Errorf("photon %s says that it changes nothing and destroys something", p.Name())
	}
}
