// Package docs holds Beam's documentation, which its pages show at /docs.
package docs

import "embed"

// Files are the documents, in Markdown.
//
//go:embed *.md
var Files embed.FS
