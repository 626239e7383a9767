// Package static holds the files that Beam's pages load: the stylesheet, the script
// modules, the icons and the Datastar bundle, which are embedded in the program.
//
// The bundle is not committed, except in released versions. `go generate ./static`
// fetches it for Beam itself. A program in another module gets it from a go:generate
// line that runs the command cmd/datastar. Without the bundle, pages work, but don't
// update themselves.
package static

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/photon-beam/beam/internal/datastar"
)

//go:generate go run ../cmd/datastar -to vendor

//go:embed beam.css css beam.js script icons vendor
var embedded embed.FS

var (
	// added holds the files of AddDatastar.
	added map[string]string
	// embedsDatastar is true if embedded has the bundle.
	embedsDatastar = hasFile(embedded, datastar.Script)
)

func hasFile(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// AddDatastar adds the Datastar bundle and its license to the program, unless the
// bundle is there or is not the one that this version of Beam is written for. The code
// that cmd/datastar generates calls it from an init function; it must not be called
// later.
func AddDatastar(script, license string) {
	script = strings.ReplaceAll(script, "\r\n", "\n") // Git may have converted it
	if !embedsDatastar && datastar.IsScript(script) {
		added = map[string]string{datastar.Script: script, datastar.License: license}
	}
}

// HasDatastar reports whether the program has the Datastar bundle.
func HasDatastar() bool { return embedsDatastar || added != nil }

// Files returns the embedded files, and those that [AddDatastar] has added, by name.
func Files() (files fs.FS, more map[string]string) { return embedded, added }
