package docs_test

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A color is one of sRGB, linear.
type color struct{ r, g, b float64 }

// fromOKLCH converts a color, as CSS Color 4 does.
func fromOKLCH(lightness, chroma, hue float64) color {
	a, b := chroma*math.Cos(hue*math.Pi/180), chroma*math.Sin(hue*math.Pi/180)
	l := math.Pow(lightness+0.3963377774*a+0.2158037573*b, 3)
	m := math.Pow(lightness-0.1055613458*a-0.0638541728*b, 3)
	s := math.Pow(lightness-0.0894841775*a-1.2914855480*b, 3)
	return color{
		clip(4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		clip(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		clip(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
	}
}

func clip(v float64) float64 { return min(max(v, 0), 1) }

// contrast returns the contrast ratio of WCAG 2.
func contrast(a, b color) float64 {
	luminance := func(c color) float64 { return 0.2126*c.r + 0.7152*c.g + 0.0722*c.b }
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

var oklch = regexp.MustCompile(`oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)`)

// parseColors returns a declaration's color of light and of dark pages.
func parseColors(t *testing.T, value string) (light, dark color) {
	t.Helper()
	var found []color
	for _, m := range oklch.FindAllStringSubmatch(value, -1) {
		var v [3]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(m[i+1], 64) // digits
		}
		found = append(found, fromOKLCH(v[0], v[1], v[2]))
	}
	if len(found) == 0 || len(found) > 2 {
		t.Fatalf("%q is no color", value)
	}
	return found[0], found[len(found)-1]
}

// styles returns all style sheets, and what base.css sets the custom properties of :root to.
func styles(t *testing.T) (all string, tokens map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "../static/css/*.css"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		all += read(t, "../static/css/"+filepath.Base(file))
	}
	root, _, _ := strings.Cut(read(t, "../static/css/base.css"), "@layer base")
	tokens = map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)--([a-z0-9-]+): ([^;]+);`).FindAllStringSubmatch(root, -1) {
		if tokens[m[1]] == "" { // what follows is for some pages
			tokens[m[1]] = m[2]
		}
	}
	return all, tokens
}

// The colors reach the contrasts that docs/design.md says they have.
func TestContrast(t *testing.T) {
	design, all, tokens := read(t, "design.md"), "", map[string]string(nil)
	all, tokens = styles(t)
	rows := regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| `([a-z0-9-]+)` \\| .* \\| ([0-9.]+) \\|$").FindAllStringSubmatch(design, -1)
	if len(rows) < 30 {
		t.Errorf("the document has %d contrasts", len(rows))
	}
	for _, m := range rows {
		light, dark := parseColors(t, tokens[m[1]])
		onLight, onDark := parseColors(t, tokens[m[2]])
		x, y := contrast(light, onLight), contrast(dark, onDark)
		if want := fmt.Sprintf("| `%s` | `%s` | %s | %s | %s |", m[1], m[2], roundDown(x), roundDown(y), m[3]); m[0] != want {
			t.Errorf("the style sheet has\n%s", want)
		}
		if least, _ := strconv.ParseFloat(m[3], 64); x < least || y < least {
			t.Errorf("%s on %s has a contrast of %.2f and %.2f, less than %v", m[1], m[2], x, y, least)
		}
	}
	sunkLight, sunkDark := parseColors(t, tokens["sunk"])
	code := regexp.MustCompile(`:is\(\.code, \.json\) \.[a-z]+ \{ color: (light-dark[^;]+);`).FindAllStringSubmatch(all, -1)
	if len(code) < 5 {
		t.Errorf("code has %d colors", len(code))
	}
	for _, m := range code {
		if light, dark := parseColors(t, m[1]); contrast(light, sunkLight) < 4.5 || contrast(dark, sunkDark) < 4.5 {
			t.Errorf("the contrast of %s is %.2f and %.2f", m[0], contrast(light, sunkLight), contrast(dark, sunkDark))
		}
	}
}

func roundDown(v float64) string { return strconv.FormatFloat(math.Floor(v*10)/10, 'f', 1, 64) }

// docs/design.md names every token, with its size, and every animation. There are no other
// sizes of text and no other notations of colors.
func TestDesignNamesEveryToken(t *testing.T) {
	design := read(t, "design.md")
	all, tokens := styles(t)
	for name, value := range tokens {
		isColor, isFont := strings.Contains(value, "oklch"), name == "text" || name == "mono"
		if !isFont && !strings.Contains(design, "`"+name+"`") {
			t.Errorf("docs/design.md doesn't name %s", name)
		}
		if !isFont && !isColor && !strings.Contains(design, "| `"+name+"` | "+value+" |") {
			t.Errorf("docs/design.md doesn't have the size of %s, %s", name, value)
		}
	}
	for _, m := range regexp.MustCompile(`@keyframes ([a-z-]+)`).FindAllStringSubmatch(all, -1) {
		if !strings.Contains(design, "| `"+m[1]+"` |") {
			t.Errorf("docs/design.md doesn't have the animation %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`font-size: ([0-9.]+(?:rem|px))`).FindAllStringSubmatch(all, -1) {
		t.Errorf("a text is %s large: use a token", m[1])
	}
	for _, m := range regexp.MustCompile(`[:(,] *(#[0-9a-fA-F]{3,8}|hsl\([^)]*\))[;,) ]`).FindAllStringSubmatch(all, -1) {
		t.Errorf("the color %s isn't in OKLCH", m[1])
	}
}
