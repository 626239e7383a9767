package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/web/internal/jsonstream"
	"github.com/photon-beam/beam/web/internal/markup"
)

// Limits on what a JSON tree shows.
const (
	maxNodes       = 2000
	maxDepth       = 24
	maxOpenMembers = 12   // objects and lists of at most this many members are expanded
	maxOpenLevels  = 2    // down to this depth
	maxScalar      = 2000 // bytes of one string
	maxName        = 200  // bytes of a member's name
	maxTree        = 1 << 20
)

// A jsonTree is a JSON value to show, or a part of it.
type jsonTree struct {
	root *jsonNode
	at   string        // where the root is in the content, as a JSON Pointer
	view templ.SafeURL // of the page that shows other parts; empty if there is none
}

// JSON renders a JSON value. It keeps the order of members and all digits of
// numbers, and shows invalid JSON as text. View is the address of a page that shows the parts
// that are left out; empty if there is none.
func JSON(raw []byte, view templ.SafeURL) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		node, ok := parseTree(raw)
		if !ok {
			return markup.Code("", raw).Render(ctx, w)
		}
		return jsonTree{root: node, view: view}.Render(ctx, w)
	})
}

// Render implements [templ.Component].
func (t jsonTree) Render(_ context.Context, w io.Writer) error {
	var b strings.Builder
	b.WriteString(`<div class="json" role="group" aria-label="JSON">`)
	if t.at != "" {
		b.WriteString(`<data class="root" value="` + templ.EscapeString(t.at) + `" hidden></data>`)
	}
	t.writeNode(&b, "", false, t.root, 0, t.at)
	b.WriteString(`</div>`)
	_, err := io.WriteString(w, b.String())
	return err
}

// A jsonNode is a value of a JSON document: a scalar, or an object or list with those of
// its members that are shown.
type jsonNode struct {
	open    byte // '{', '[' or 0
	scalar  string
	class   string
	names   []string // of the members of an object
	members []*jsonNode
	first   int  // how many members precede those
	total   int  // members
	unread  bool // it is nested too deep: nothing is known about its members
}

func parseTree(raw []byte) (*jsonNode, bool) {
	if len(raw) > maxTree || !json.Valid(raw) {
		return nil, false
	}
	n, err := readTree(bytes.NewReader(raw), "", 0)
	return n, err == nil
}

// readTree reads the part of a JSON text that a JSON Pointer points at, without its first
// members.
func readTree(text io.Reader, at string, first int) (*jsonNode, error) {
	r := jsonstream.New(text)
	if err := r.Seek(at); err != nil {
		return nil, err
	}
	remaining := maxNodes
	return readNode(r, 0, first, &remaining)
}

func readNode(r *jsonstream.Reader, depth, first int, remaining *int) (*jsonNode, error) {
	*remaining--
	c, err := r.Peek()
	if err != nil {
		return nil, err
	}
	if c != '{' && c != '[' {
		return readScalar(r)
	}
	n := &jsonNode{open: c, first: first}
	if depth > maxDepth {
		n.unread = true
		return n, r.Skip()
	}
	if err := r.Enter(c); err != nil {
		return nil, err
	}
	for {
		more, err := r.More()
		if err != nil || !more {
			return n, err
		}
		if err := n.readMember(r, depth, remaining); err != nil {
			return nil, err
		}
	}
}

// readMember reads the next member, and keeps it if it is to be shown.
func (n *jsonNode) readMember(r *jsonstream.Reader, depth int, remaining *int) error {
	name := ""
	if n.open == '{' {
		var err error
		if name, err = r.Name(); err != nil {
			return err
		}
	}
	n.total++
	if n.total <= n.first || *remaining <= 0 {
		return r.Skip()
	}
	m, err := readNode(r, depth+1, 0, remaining)
	if n.open == '{' {
		n.names = append(n.names, name)
	}
	n.members = append(n.members, m)
	return err
}

func readScalar(r *jsonstream.Reader) (*jsonNode, error) {
	raw, err := r.Value()
	if err != nil {
		return nil, err
	}
	if !json.Valid(raw) {
		return nil, jsonstream.ErrSyntax
	}
	switch raw[0] {
	case '"':
		text, _ := rawjson.DecodeText(raw)
		if len(text) > maxScalar {
			text = strings.ToValidUTF8(text[:maxScalar], "") + " …"
		}
		return &jsonNode{scalar: strconv.Quote(text), class: "s"}, nil
	case 't', 'f', 'n':
		return &jsonNode{scalar: string(raw), class: "k"}, nil
	}
	return &jsonNode{scalar: humanize.TruncateBytes(string(raw), maxScalar, " …"), class: "m"}, nil
}

// nameOf returns the name of the ith of the members that are shown.
func (n *jsonNode) nameOf(i int) string {
	if n.open == '{' {
		return n.names[i]
	}
	return strconv.Itoa(n.first + i)
}

func (t jsonTree) writeNode(b *strings.Builder, name string, named bool, n *jsonNode, depth int, at string) {
	if n.open == 0 || n.total == 0 {
		b.WriteString(`<div class="leaf">`)
		writeName(b, name, named)
		switch {
		case n.open == 0:
			b.WriteString(`<span class="` + n.class + `">` + templ.EscapeString(n.scalar) + `</span>`)
		case n.unread:
			t.writeRest(b, "nested deeper", at, 0)
		default:
			b.WriteString(emptyBrackets(n.open))
		}
		b.WriteString(`</div>`)
		return
	}
	b.WriteString(`<details`)
	if depth == 0 || depth < maxOpenLevels && len(n.members) <= maxOpenMembers {
		b.WriteString(` open`)
	}
	b.WriteString(`><summary>`)
	writeName(b, name, named)
	b.WriteString(`<span class="faint">` + memberCount(n) + `</span></summary><div class="members">`)
	for i, m := range n.members {
		child := n.nameOf(i)
		t.writeNode(b, child, true, m, depth+1, jsonstream.Child(at, child))
	}
	if end := n.first + len(n.members); end < n.total {
		b.WriteString(`<div class="leaf">`)
		t.writeRest(b, humanize.CountOf(n.total-end, "more", "more"), at, end)
		b.WriteString(`</div>`)
	}
	b.WriteString(`</div></details>`)
}

// writeRest says what is left out, and leads to it.
func (t jsonTree) writeRest(b *strings.Builder, what, at string, first int) {
	if t.view == "" {
		b.WriteString(`<span class="faint">` + what + `</span>`)
		return
	}
	b.WriteString(`<a href="` + templ.EscapeString(string(treeURL(t.view, at, first))) + `">` + what + `</a>`)
}

// treeURL returns the address of a part of a JSON value.
func treeURL(view templ.SafeURL, at string, first int) templ.SafeURL {
	query := url.Values{"as": {"tree"}}
	if at != "" {
		query.Set("at", at)
	}
	if first > 0 {
		query.Set("from", strconv.Itoa(first))
	}
	return view + templ.SafeURL("?"+query.Encode())
}

// writeName writes the name of a member, as it is seen, and as it is if that differs.
func writeName(b *strings.Builder, name string, named bool) {
	if !named {
		return
	}
	seen := cleantext.Text(humanize.TruncateBytes(name, maxName, " …"))
	if seen == name {
		b.WriteString(`<span class="na">` + templ.EscapeString(name) + `</span> `)
		return
	}
	b.WriteString(`<data class="na" value="` + templ.EscapeString(name) + `">` + templ.EscapeString(seen) + `</data> `)
}

func emptyBrackets(open byte) string {
	if open == '{' {
		return "{}"
	}
	return "[]"
}

func memberCount(n *jsonNode) string {
	if n.open == '{' {
		return "{" + humanize.Thousands(n.total) + "}"
	}
	return "[" + humanize.Thousands(n.total) + "]"
}

// IsEmptyJSON reports whether raw has nothing to show.
func IsEmptyJSON(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "{}", "null", "[]":
		return true
	}
	return false
}

// JSONString returns the text of a JSON string; ok is false if raw is not one.
func JSONString(raw json.RawMessage) (text string, ok bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
