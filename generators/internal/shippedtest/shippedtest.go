// Package shippedtest has the checks that every photon shipped with Beam must pass, and
// golden files for the forms that clients rely on. Photons are run by package beamtest.
package shippedtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/form"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// Golden compares a JSON value with testdata/NAME.json. With the flag -update, it
// writes the file instead.
func Golden(t testing.TB, name string, value json.RawMessage) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, value, "", "  "); err != nil {
		t.Fatalf("%s is not JSON: %v", name, err)
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
		t.Fatalf("%v (go test -update creates it)", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s has changed (go test -update accepts it).\ngot:\n%s\nwant:\n%s", file, got.Bytes(), want)
	}
}

// GoldenPhoton compares with golden files: a photon's input schema with input.json,
// and the form of each question that it asked in a run with KEY.json.
func GoldenPhoton(t testing.TB, p *generators.Photon, o *beamtest.Outcome) {
	t.Helper()
	input, err := json.Marshal(p.Input())
	if err != nil {
		t.Fatal(err)
	}
	Golden(t, "input", input)
	for key, q := range o.Questions {
		if len(q.Fields) > 0 {
			Golden(t, key, form.RequestedSchemaOf(q))
		}
	}
}

// CheckPhoton checks what every shipped photon must have: a valid registration, a
// title and a description.
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
		t.Errorf("photon %s is both read-only and destructive", p.Name())
	}
}
