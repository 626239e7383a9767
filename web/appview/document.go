package appview

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/photon-beam/beam/static"
)

//go:embed view
var files embed.FS

// sharedStyles are the style sheets that the view has in common with Beam's pages.
var sharedStyles = []string{"css/base.css", "css/controls.css", "css/artifacts.css"}

type document struct{ html, digest string }

// loadDocument assembles the document: one file, since a host lets it load nothing else.
var loadDocument = sync.OnceValue(func() document {
	shared, _ := static.Files()
	var css strings.Builder
	for _, name := range sharedStyles {
		css.WriteString(mustRead(shared, name))
	}
	css.WriteString(mustRead(files, "view/view.css"))
	var script strings.Builder
	for _, name := range []string{"host.js", "run.js", "end.js", "main.js"} {
		script.WriteString(mustRead(files, "view/"+name))
	}
	html := strings.NewReplacer("{{style}}", compactCSS(css.String()), "{{script}}", script.String()).Replace(mustRead(files, "view/view.html"))
	sum := sha256.Sum256([]byte(html))
	return document{html, hex.EncodeToString(sum[:6])}
})

// Document implements [apps.View].
func (v *Views) Document() (html, digest string) {
	d := loadDocument()
	return d.html, d.digest
}

func mustRead(from fs.FS, name string) string {
	raw, err := fs.ReadFile(from, name)
	if err != nil {
		panic(fmt.Sprintf("appview: %v", err)) // it is embedded
	}
	return string(raw)
}

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssSpace   = regexp.MustCompile(`\n\s*`)
)

// compactCSS removes comments and indentation. No value in the style sheets has either.
func compactCSS(css string) string {
	return cssSpace.ReplaceAllString(cssComment.ReplaceAllString(css, ""), "\n")
}
