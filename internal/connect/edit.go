package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// AddTo returns a client's configuration with the entry. The configuration may have
// comments and trailing commas. AddTo keeps the rest of the text as it is, and members of
// an entry of the same name that it doesn't set. It reports whether the configuration has
// changed. It fails if the document isn't a JSON object, or has another server of that name.
func (c Client) AddTo(document []byte, e Entry) (edited []byte, changed bool, err error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(document, byteOrderMark))) == 0 {
		document = []byte("{}\n")
	}
	root, err := parseRoot(document)
	if err != nil {
		return nil, false, err
	}
	s := styleOf(document, root)
	edited = s.ensure(document, root, 0, c.member, s.emptyObject(1))
	servers, err := find(edited, c.member)
	if err != nil {
		return nil, false, fmt.Errorf("its member %q isn't an object", c.member)
	}
	edited = s.ensure(edited, servers, 1, e.Name, s.emptyObject(2))
	entry, err := find(edited, c.member, e.Name)
	if err != nil {
		return nil, false, fmt.Errorf("its server %q isn't an object", e.Name)
	}
	if len(entry.Members) > 0 && !entry.runs(e.Command) {
		return nil, false, notThisProgram(e, "choose another name with --name")
	}
	for _, m := range c.members(e) {
		if entry, err = find(edited, c.member, e.Name); err != nil {
			return nil, false, err
		}
		edited = s.set(edited, entry, m)
	}
	return edited, !bytes.Equal(edited, document), nil
}

// A style is how a document is written.
type style struct{ newline, indent string }

func styleOf(document []byte, root object) style {
	s := style{newline: "\n", indent: "  "}
	if bytes.Contains(document, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(root.Members) > 0 {
		before := root.Members[0].Name.BeforeExtra
		if i := bytes.LastIndexByte(before, '\n'); i >= 0 && i < len(before)-1 {
			line := before[i+1:]
			s.indent = string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
		}
	}
	return s
}

// line returns the beginning of a line that is level levels deep.
func (s style) line(level int) string { return s.newline + strings.Repeat(s.indent, level) }

// emptyObject returns an object whose braces are on lines of their own.
func (s style) emptyObject(level int) json.RawMessage {
	return json.RawMessage("{" + s.line(level) + "}")
}

// set sets a member of an object that is two levels deep in the document.
func (s style) set(document []byte, o object, m member) []byte {
	i := o.index(m.name)
	if i < 0 {
		return s.ensure(document, o, 2, m.name, m.value)
	}
	old := o.Members[i].Value
	if bytes.Equal(compact(old), m.value) {
		return document
	}
	return splice(document, old.StartOffset, old.EndOffset, string(m.value))
}

// ensure adds a member to an object that is level levels deep, unless it has one of that
// name. It adds it after the comments that follow the last member: they belong to that.
func (s style) ensure(document []byte, o object, level int, name string, value json.RawMessage) []byte {
	if o.index(name) >= 0 {
		return document
	}
	text := string(encode(name)) + ": " + string(value)
	comments := trimSpaceAfter(o.AfterExtra)
	at := o.end - len(o.AfterExtra) + len(comments)
	switch n := len(o.Members); {
	case n > 0 && o.Members[n-1].Value.AfterExtra != nil: // a trailing comma
		return splice(document, at, at, s.line(level+1)+text+",")
	case n > 0:
		last := o.Members[n-1].Value.EndOffset
		document = splice(document, at, at, s.line(level+1)+text)
		return splice(document, last, last, ",")
	case level == 0 && len(comments) == 0:
		return splice(document, at, o.end, s.line(1)+text+s.newline)
	case len(comments) == 0 && !bytes.Contains(o.AfterExtra, []byte("\n")):
		return splice(document, at, at, text) // the braces stay where they are
	}
	return splice(document, at, at, s.line(level+1)+text)
}

// RemoveFrom returns a client's configuration without the entry of that name, and without
// the object of servers if AddTo made that for the entry. It keeps the rest of the text,
// comments beside the entry included, and reports whether there was such an entry. It
// fails if the document isn't a JSON object, or if the entry isn't this program's.
func (c Client) RemoveFrom(document []byte, e Entry) (edited []byte, removed bool, err error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(document, byteOrderMark))) == 0 {
		return document, false, nil
	}
	root, err := parseRoot(document)
	if err != nil {
		return nil, false, err
	}
	servers, err := find(document, c.member)
	if err != nil || servers.index(e.Name) < 0 {
		return document, false, nil
	}
	if entry, err := find(document, c.member, e.Name); err != nil || !entry.runs(e.Command) {
		return nil, false, notThisProgram(e, "remove it yourself, or name this program's with --name")
	}
	if i := root.index(c.member); servers.isMade() && i == len(root.Members)-1 {
		edited = root.remove(document, i)
	} else {
		edited = servers.remove(document, servers.index(e.Name))
	}
	if root, err = parseRoot(edited); err != nil {
		return nil, false, fmt.Errorf("without the server %q, %w", e.Name, err)
	}
	if len(root.Members) == 0 && len(trimSpaceAfter(root.AfterExtra)) == 0 {
		edited = splice(edited, root.end-len(root.AfterExtra), root.end, "")
	}
	return edited, true, nil
}

// isMade reports whether the object looks as AddTo makes it: with one member, on lines of
// its own, and without comments beside that.
func (o object) isMade() bool {
	if len(o.Members) != 1 {
		return false
	}
	m := o.Members[0]
	for _, space := range [][]byte{m.Name.BeforeExtra, append(bytes.Clone(m.Value.AfterExtra), o.AfterExtra...)} {
		if len(trimSpaceAfter(space)) > 0 || !bytes.Contains(space, []byte("\n")) {
			return false
		}
	}
	return true
}

// remove removes a member with its comma and the white space that set it apart.
func (o object) remove(document []byte, i int) []byte {
	m := o.Members[i]
	before, after := string(document[:m.Name.StartOffset]), string(document[m.Value.EndOffset:])
	n := len(m.Value.AfterExtra)
	switch {
	case m.Value.AfterExtra != nil || i < len(o.Members)-1:
		after = after[:n] + after[n+len(","):]
	case i > 0:
		previous := o.Members[i-1].Value
		comma := previous.EndOffset + len(previous.AfterExtra)
		before = before[:comma] + before[comma+len(","):]
	}
	comments := trimSpaceAfter(m.Name.BeforeExtra)
	space := len(m.Name.BeforeExtra) - len(comments)
	rest := strings.TrimLeft(after, " \t")
	// What follows must not become part of a line comment.
	if strings.HasPrefix(rest, "\r") || strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "}") && comments.IsValid() {
		return []byte(before[:len(before)-space] + after)
	}
	return []byte(before + rest)
}

func notThisProgram(e Entry, advice string) error {
	return fmt.Errorf("it already has a server %q that is not this program: %s", e.Name, advice)
}

// runs reports whether an entry starts the same program, wherever that is.
func (o object) runs(command string) bool {
	i := o.index("command")
	if i < 0 {
		return false
	}
	other, ok := o.Members[i].Value.Value.(hujson.Literal)
	return ok && other.Kind() == '"' && programOf(other.String()) == programOf(command)
}

// programOf returns the name of a program.
func programOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// splice returns the document with a part of it replaced.
func splice(document []byte, begin, end int, text string) []byte {
	return bytes.Join([][]byte{document[:begin], []byte(text), document[end:]}, nil)
}
