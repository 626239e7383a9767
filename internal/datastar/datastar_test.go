package datastar

import (
	"strings"
	"testing"
)

func TestIsScript(t *testing.T) {
	folder := t.TempDir()
	if err := Fetch(folder); err != nil {
		t.Fatal(err)
	}
	script := readFile(t, folder, "datastar.js")
	if !IsScript(script) {
		t.Error("the bundle that Fetch writes is not the one that the pages are written for")
	}
	if IsScript(script + "\n") {
		t.Error("a changed bundle is accepted")
	}
	if license := readFile(t, folder, "datastar.LICENSE.md"); !strings.Contains(license, "Copyright") {
		t.Errorf("the license is %q", license)
	}
}

func TestHowToAdd(t *testing.T) {
	if got := HowToAdd(); !strings.Contains(got, "go generate ./static") {
		t.Errorf("a program of Beam's module is told %q", got)
	}
}
