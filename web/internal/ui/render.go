// Package ui renders Beam's pages: whole documents, and the parts that change while
// a run is live. Its functions take data and return templ components; they know
// nothing of requests, sessions or streams.
//
// Every text from a photon, model, person or upstream is escaped or sanitized here,
// and none becomes part of an attribute that Datastar evaluates. Patches contain no
// carriage returns, which would end a line of a server-sent event: render patches
// only through [Patch.Component], and forms only through this package's functions.
package ui

//go:generate go tool templ generate -path .

import (
	"bytes"
	"context"
	"regexp"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/photon-beam/beam/internal/cleantext"
)

// Render renders a component as people read it: in all its text, and in the attributes that
// are shown or read aloud, [cleantext.Text] has marked what is invisible or reorders other
// text, wherever that comes from. What a form sends back stays as it is.
//
// There are no carriage returns. Each ends a line of a server-sent event just as a line feed
// does, so that a photon's text could inject fields into the stream.
func Render(ctx context.Context, c templ.Component) ([]byte, error) {
	var b bytes.Buffer
	if err := c.Render(ctx, &b); err != nil {
		return nil, err
	}
	return showInvisible(b.Bytes()), nil
}

// readAttribute matches the attributes that are shown or read aloud.
var readAttribute = regexp.MustCompile(` (?:title|alt|aria-label|aria-description|placeholder|label|download)="[^"]*"`)

// showInvisible returns a document, or a part of one, for [Render].
func showInvisible(page []byte) []byte {
	if cleantext.IsPlain(page) {
		return page // as almost all pages
	}
	shown := make([]byte, 0, len(page)+len(page)/64)
	z := html.NewTokenizer(bytes.NewReader(page))
	var parent atom.Atom
	for {
		kind := z.Next()
		raw := z.Raw()
		switch {
		case kind == html.ErrorToken:
			return append(shown, withoutReturns(raw)...)
		case kind == html.TextToken && parent != atom.Textarea && parent != atom.Script && parent != atom.Style:
			shown = append(shown, cleantext.Text(string(raw))...)
			continue
		case kind == html.StartTagToken, kind == html.SelfClosingTagToken:
			raw = readAttribute.ReplaceAllFunc(raw, func(attribute []byte) []byte { return []byte(cleantext.Text(string(attribute))) })
		}
		shown = append(shown, withoutReturns(raw)...)
		if kind == html.StartTagToken || kind == html.EndTagToken {
			name, _ := z.TagName()
			parent = atom.Lookup(name)
		}
	}
}

// withoutReturns returns HTML without carriage returns, which mean the same as line feeds.
func withoutReturns(raw []byte) []byte {
	if bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}
