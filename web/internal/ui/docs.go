package ui

import (
	"context"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/links"
)

// A DocsPage lists the documentation.
type DocsPage struct {
	Search string
	Docs   []DocLink
	Found  []DocLink // what a search has found
}

// A DocLink leads to a document or a section of one.
type DocLink struct {
	Title, URL string
	In         string // the document that the section is in
	Text       string // the beginning of what matches
}

// A DocPage is a document.
type DocPage struct {
	Title    string
	HTML     string // Beam's own
	Sections []DocLink
}

func docsURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Docs())
}
