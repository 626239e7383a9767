package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/markup"
)

// Limits on what a JSON tree shows.
const (
	maxNodes       = 2000
	maxDepth       = 24
	maxOpenMembers = 12   // objects and lists of at most this many members are expanded
	maxOpenLevels  = 2    // down to this depth
	maxScalar      = 2000 // bytes of one string
	maxTree        = 1 << 20
)

// jsonTreeView renders a JSON value. It keeps the order of members and all digits of
// numbers, and shows invalid JSON as text.
func jsonTreeView(raw []byte) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		node, ok := parseTree(raw)
		if !ok {
			return markup.Code("", raw).Render(ctx, w)
		}
		var b strings.Builder
		b.WriteString(`<div class="json">`)
		remaining := maxNodes
		writeNode(&b, "", false, node, 0, &remaining)
		b.WriteString(`</div>`)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// A jsonNode is a value of a JSON document: a scalar, or an object or list with its
// members.
type jsonNode struct {
	open    byte // '{', '[' or 0
	scalar  string
	class   string
	names   []string
	members []*jsonNode
}

var errTooDeep = errors.New("too deep")

func parseTree(raw []byte) (*jsonNode, bool) {
	if len(raw) > maxTree || !json.Valid(raw) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	n, err := parseNode(d, 0)
	return n, err == nil
}

func parseNode(d *json.Decoder, depth int) (*jsonNode, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return newScalarNode(t), nil
	}
	if depth > maxDepth {
		return nil, errTooDeep
	}
	n := &jsonNode{open: byte(delim)}
	for d.More() {
		if n.open == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			n.names = append(n.names, name)
		}
		m, err := parseNode(d, depth+1)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, m)
	}
	_, err = d.Token()
	return n, err
}

func newScalarNode(t json.Token) *jsonNode {
	switch v := t.(type) {
	case string:
		if len(v) > maxScalar {
			v = strings.ToValidUTF8(v[:maxScalar], "") + " …"
		}
		return &jsonNode{scalar: strconv.Quote(v), class: "s"}
	case json.Number:
		return &jsonNode{scalar: v.String(), class: "m"}
	case bool:
		return &jsonNode{scalar: strconv.FormatBool(v), class: "k"}
	}
	return &jsonNode{scalar: "null", class: "k"}
}

func writeNode(b *strings.Builder, name string, named bool, n *jsonNode, depth int, remaining *int) {
	*remaining--
	if n.open == 0 || len(n.members) == 0 {
		b.WriteString(`<div class="leaf">`)
		writeName(b, name, named)
		if n.open == 0 {
			b.WriteString(`<span class="` + n.class + `">` + templ.EscapeString(n.scalar) + `</span>`)
		} else {
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
		if *remaining <= 0 {
			b.WriteString(`<div class="leaf faint">` + humanize.CountOf(len(n.members)-i, "more", "more") + `</div>`)
			break
		}
		if n.open == '{' {
			writeNode(b, n.names[i], true, m, depth+1, remaining)
		} else {
			writeNode(b, strconv.Itoa(i), true, m, depth+1, remaining)
		}
	}
	b.WriteString(`</div></details>`)
}

func writeName(b *strings.Builder, name string, named bool) {
	if named {
		b.WriteString(`<span class="na">` + templ.EscapeString(cleantext.Visible(name)) + `</span> `)
	}
}

func emptyBrackets(open byte) string {
	if open == '{' {
		return "{}"
	}
	return "[]"
}

func memberCount(n *jsonNode) string {
	if n.open == '{' {
		return "{" + humanize.Thousands(len(n.members)) + "}"
	}
	return "[" + humanize.Thousands(len(n.members)) + "]"
}

// isEmptyJSON reports whether raw has nothing to show.
func isEmptyJSON(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "{}", "null", "[]":
		return true
	}
	return false
}

// jsonString returns the text of a JSON string; ok is false if raw is not one.
func jsonString(raw json.RawMessage) (text string, ok bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
