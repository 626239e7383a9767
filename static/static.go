// Package static holds the files that Beam's pages load: the stylesheet, the script
// modules, the icons and the Datastar bundle. They are embedded in the program and served under
// names that contain a digest of their content, so that browsers may cache them
// indefinitely and never combine an old file with a new page.
//
// The bundle is not committed; `go generate ./static` fetches it. Without it the
// package still compiles, and Has("vendor/datastar.js") returns false.
package static

import (
	"embed"
	"fmt"
	"sync"
)

//go:generate go run ./internal/bundle vendor

//go:embed beam.css css beam.js script icons vendor
var embedded embed.FS

// Assets returns the set of embedded files, which the first call creates.
var Assets = sync.OnceValue(func() *Set {
	set, err := New(embedded)
	if err != nil {
		panic(fmt.Sprintf("static: %v", err))
	}
	return set
})
