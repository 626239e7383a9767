package assets

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// unprefixed returns the URL of a file without the prefix, and with its leading slash.
func unprefixed(set *Set, name string) string {
	return strings.TrimPrefix(set.URL(name), strings.TrimSuffix(prefix, "/"))
}

func TestModules(t *testing.T) {
	set := newSet(t,
		"a.js", "// import \"./not.js\";\n\n/**\n * It doesn't import \"./not.js\".\n */\nimport {\n  b, // of b\n} from \"./parts/b.js\";\nimport './parts/c.js';\nf(\"./parts/b.js\");\n",
		"parts/b.js", `export { c as b } from "./c.js";`,
		"parts/c.js", `import { d } from "../d.js";`,
		"d.js", "export const d = 1;",
		"vendor/e.js", "// All rights reserved\n")
	b, c, d := unprefixed(set, "parts/b.js"), unprefixed(set, "parts/c.js"), unprefixed(set, "d.js")
	for name, want := range map[string]string{
		"a.js":        "\nimport {\n  b, // of b\n} from \"." + b + "\";\nimport '." + c + "';\nf(\"./parts/b.js\");\n",
		"parts/b.js":  `export { c as b } from "..` + c + `";`,
		"parts/c.js":  `import { d } from "..` + d + `";`,
		"vendor/e.js": "// All rights reserved\n",
	} {
		got, err := io.ReadAll(serve(set, "GET", set.URL(name)).Body)
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	if got, want := set.Imports("a.js"), []string{set.URL("parts/b.js"), set.URL("parts/c.js"), set.URL("d.js")}; !slices.Equal(got, want) {
		t.Errorf("a.js imports %q, want %q", got, want)
	}
}

func TestReferences(t *testing.T) {
	set := newSet(t,
		"a.css", `@import "css/b.css" layer(x); /* url(gone.png) */ c{background:url( '#d' ), url("data:image/png,x y")}`,
		"css/b.css", `d{background:url("../icons/e.svg")}`,
		"icons/e.svg", "<svg/>")
	for name, want := range map[string]string{
		"a.css":     `@import ".` + unprefixed(set, "css/b.css") + `" layer(x);  c{background:url( '#d' ), url("data:image/png,x y")}`,
		"css/b.css": `d{background:url("..` + unprefixed(set, "icons/e.svg") + `")}`,
	} {
		got, err := io.ReadAll(serve(set, "GET", set.URL(name)).Body)
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestUnconditionalImportsAreInlined(t *testing.T) {
	pairs := []string{
		"a.css", `@layer x, y; @import "css/b.css"; @import 'css/c.css' ; d{}`,
		"css/b.css", `@layer x{e{background:url("../icons/e.svg")}}`,
		"css/c.css", `/* of y */@layer y{@import "deep/f.css";}`,
		"css/deep/f.css", `f{}`,
		"icons/e.svg", "<svg/>",
	}
	set := newSet(t, pairs...)
	want := `@layer x, y; @layer x{e{background:url(".` + unprefixed(set, "icons/e.svg") + `")}} @layer y{f{}} d{}`
	if got, err := io.ReadAll(serve(set, "GET", set.URL("a.css")).Body); err != nil || string(got) != want {
		t.Errorf("it is %q, %v, want %q", got, err, want)
	}
	for _, part := range []string{"css/b.css", "css/c.css", "css/deep/f.css"} {
		if set.Has(part) {
			t.Errorf("%s is served, too", part)
		}
	}
	if again := newSet(t, pairs...); again.URL("a.css") != set.URL("a.css") {
		t.Error("another start has another name for the same")
	}
	pairs[3] += " g{}"
	if other := newSet(t, pairs...); other.URL("a.css") == set.URL("a.css") {
		t.Error("a part has changed, and the name has not")
	}
}

func TestNewRejects(t *testing.T) {
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"a missing file":    {mapFS("a.css", "b{background:url(c.png)}"), "a.css refers to c.png"},
		"another host":      {mapFS("a.css", `@import "https://example.com/b.css"`), "a.css refers to https://example.com"},
		"a circle":          {mapFS("a.css", `@import "b.css"`, "b.css", `@import "a.css"`), "a.css: b.css: a.css imports itself"},
		"a missing part":    {mapFS("a.css", `@import "b.css";`), "a.css refers to b.css"},
		"a part of itself":  {mapFS("a.css", `@import "b.css";`, "b.css", `@import "a.css";`), "a.css: b.css: a.css imports itself"},
		"a missing module":  {mapFS("a.js", `import "./b.js";`), "a.js refers to ./b.js"},
		"circular modules":  {mapFS("a.js", `import "./b.js";`, "b.js", `import "./a.js";`), "a.js: b.js: a.js imports itself"},
		"an unknown ending": {mapFS("a.exe", "MZ"), "a.exe: no media type"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(c.files, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}
