package houserules

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the picture of layers in CONTRIBUTING.md, and lower the ceilings")

// The comments around the picture in CONTRIBUTING.md.
const (
	pictureStart = "<!-- go test ./internal/houserules -update draws this -->\n"
	pictureEnd   = "<!-- end of the picture -->\n"
)

// The picture in CONTRIBUTING.md is that of the table of layers.
func TestPictureOfLayers(t *testing.T) {
	file := filepath.Join(root, "CONTRIBUTING.md")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasStart := strings.Cut(string(raw), pictureStart)
	picture, after, hasEnd := strings.Cut(rest, pictureEnd)
	if !hasStart || !hasEnd {
		t.Fatalf("CONTRIBUTING.md has no place for the picture, between %q and %q", pictureStart, pictureEnd)
	}
	want := drawLayers()
	if picture == want {
		return
	}
	if !*update {
		t.Fatal("the picture in CONTRIBUTING.md is stale: go test ./internal/houserules -update")
	}
	if err := os.WriteFile(file, []byte(before+pictureStart+want+pictureEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawLayers returns the layers as a Mermaid diagram, without the arrows that others imply,
// and a table of their packages.
func drawLayers() string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, l := range layers {
		for _, a := range l.imports {
			if !isImplied(l, a.to) {
				fmt.Fprintf(&b, "    %s[%s] --> %s[%s]\n", nodeID(l.name), l.name, nodeID(a.to), a.to)
			}
		}
	}
	b.WriteString("```\n\n| layer | packages |\n|---|---|\n")
	for _, l := range layers {
		fmt.Fprintf(&b, "| %s | %s |\n", l.name, listPackages(l.packages))
	}
	fmt.Fprintf(&b, "| helpers, for all | %s |\n", listPackages(helpers))
	return b.String()
}

// isImplied reports whether a layer also reaches another through a third.
func isImplied(l layer, to string) bool {
	return slices.ContainsFunc(l.imports, func(a arrow) bool { return a.to != to && reaches(a.to, to) })
}

// reaches reports whether one layer imports another, directly or through others.
func reaches(from, to string) bool {
	i := slices.IndexFunc(layers, func(l layer) bool { return l.name == from })
	return slices.ContainsFunc(layers[i].imports, func(a arrow) bool { return a.to == to || reaches(a.to, to) })
}

func nodeID(name string) string { return strings.ReplaceAll(name, " ", "_") }

// listPackages returns the folders of packages as code.
func listPackages(patterns []string) string {
	var names []string
	for _, p := range patterns {
		switch {
		case p == ".":
			p = "beam.go"
		case !strings.HasSuffix(p, "/..."):
			p += "/"
		}
		names = append(names, "`"+p+"`")
	}
	return strings.Join(names, ", ")
}
