// Package static holds the files that Beam's pages load: the stylesheet, our
// own script, the icons and the Datastar bundle. They are embedded in the program and served
// under names that contain a digest of their content, so that a browser may
// keep them for ever and never sees an old one beside a new page.
//
// The bundle is not committed; `go generate ./static` fetches it. Without it
// the package still compiles, and Has("vendor/datastar.js") says so.
package static

import (
	"embed"
	"fmt"
	"sync"
)

//go:generate go run ./internal/bundle vendor

//go:embed beam.css css *.js icons vendor
var embedded embed.FS

// Assets is the set of the embedded files. It is made once, when it is first
// asked for.
var Assets = sync.OnceValue(func() *Set {
	set, err := New(embedded)
	if err != nil {
		panic(fmt.Sprintf("static: %v", err))
	}
	return set
})
