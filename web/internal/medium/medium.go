// Package medium says in what a component is rendered: in a page of the site, or in a document
// that can't load the site's content.
package medium

import "context"

// A Medium is what has a component.
type Medium int

// The media.
const (
	Site   Medium = iota // a page, which can refer to the site for content
	Export               // a document of its own, which links to nothing of the site
	Chat                 // the view in a chat, which may load nothing; pictures are part of it
)

type key struct{}

// With returns a context in which components are rendered for a medium.
func With(ctx context.Context, m Medium) context.Context { return context.WithValue(ctx, key{}, m) }

// Of returns the medium of a context; a page of the site by default.
func Of(ctx context.Context) Medium {
	m, _ := ctx.Value(key{}).(Medium)
	return m
}
