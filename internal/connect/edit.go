package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// A member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// An object is a JSON object in a document whose text is kept where it isn't changed.
type object struct {
	members []member
	ends    []int // where the values of the members end
	end     int   // where the object's } is
}

// AddTo returns a client's configuration with the entry. It keeps the rest of the text as
// it is, and members of an entry of the same name that it doesn't set. It reports whether
// the configuration has changed. It fails if the document isn't a JSON object, or has
// another server of that name.
func (c Client) AddTo(document []byte, e Entry) (edited []byte, changed bool, err error) {
	if len(bytes.TrimSpace(document)) == 0 {
		document = []byte("{}\n")
	}
	if err := checkJSON(document); err != nil {
		return nil, false, err
	}
	original := document
	root, err := parseObject(document, 0)
	if err != nil {
		return nil, false, errors.New("it isn't a JSON object")
	}
	indent := indentOf(document)
	document = ensure(document, root, 0, indent, c.member, json.RawMessage("{}"))
	servers, at, err := find(document, 0, c.member)
	if err != nil {
		return nil, false, fmt.Errorf("its member %q isn't an object", c.member)
	}
	document = ensure(document, servers, 1, indent, e.Name, json.RawMessage("{}"))
	entry, entryAt, err := find(document, at, e.Name)
	if err != nil {
		return nil, false, fmt.Errorf("its server %q isn't an object", e.Name)
	}
	if len(entry.members) > 0 && !entry.runs(e.Command) {
		return nil, false, fmt.Errorf("it already has a server %q that is not this program: choose another name with --name", e.Name)
	}
	for _, m := range c.members(e) {
		if document, err = set(document, entryAt, indent, m); err != nil {
			return nil, false, err
		}
	}
	return document, !bytes.Equal(document, original), nil
}

// runs reports whether an entry starts the same program, wherever that is.
func (o object) runs(command string) bool {
	for _, m := range o.members {
		var other string
		if m.name == "command" && json.Unmarshal(m.value, &other) == nil {
			return programOf(other) == programOf(command)
		}
	}
	return false
}

// programOf returns the name of a program.
func programOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// checkJSON returns an error that says where a document isn't JSON.
func checkJSON(document []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(document, &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	before := document[:min(int(syntax.Offset), len(document))]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Errorf("it isn't plain JSON: line %d: %w (comments and trailing commas are not allowed)", line, syntax)
}

// parseObject parses the object that begins at an offset of a valid document.
func parseObject(document []byte, at int) (o object, err error) {
	d := json.NewDecoder(bytes.NewReader(document[at:]))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return o, errors.New("not an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return o, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return o, err
		}
		o.members = append(o.members, member{name.(string), value})
		o.ends = append(o.ends, at+int(d.InputOffset()))
	}
	if _, err := d.Token(); err != nil {
		return o, err
	}
	o.end = at + int(d.InputOffset()) - 1
	return o, nil
}

// index returns the last member with a name, which is the one that counts, or -1.
func (o object) index(name string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

// find returns the object that is a member of the object at an offset, and its offset.
func find(document []byte, at int, name string) (o object, offset int, err error) {
	parent, err := parseObject(document, at)
	if err != nil {
		return o, 0, err
	}
	i := parent.index(name)
	if i < 0 {
		return o, 0, errors.New("no such member")
	}
	offset = parent.ends[i] - len(parent.members[i].value)
	o, err = parseObject(document, offset)
	return o, offset, err
}

// set sets a member of the object at an offset, two levels deep in the document.
func set(document []byte, at int, indent string, m member) ([]byte, error) {
	o, err := parseObject(document, at)
	if err != nil {
		return nil, err
	}
	i := o.index(m.name)
	if i < 0 {
		return ensure(document, o, 2, indent, m.name, m.value), nil
	}
	if equal(o.members[i].value, m.value) {
		return document, nil
	}
	return splice(document, o.ends[i]-len(o.members[i].value), o.ends[i], m.value), nil
}

// ensure adds a member to an object that is level levels deep, unless it has one of that
// name.
func ensure(document []byte, o object, level int, indent, name string, value json.RawMessage) []byte {
	if o.index(name) >= 0 {
		return document
	}
	text := "\n" + strings.Repeat(indent, level+1) + string(encode(name)) + ": " + string(value)
	if n := len(o.ends); n > 0 {
		return splice(document, o.ends[n-1], o.ends[n-1], []byte(","+text))
	}
	begin := bytes.LastIndexByte(document[:o.end], '{') + 1
	return splice(document, begin, o.end, []byte(text+"\n"+strings.Repeat(indent, level)))
}

// splice returns the document with a part of it replaced.
func splice(document []byte, begin, end int, text []byte) []byte {
	return bytes.Join([][]byte{document[:begin], text, document[end:]}, nil)
}

// equal reports whether two values are the same JSON but for white space.
func equal(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// indentOf returns by what a document indents each level.
func indentOf(document []byte) string {
	_, after, found := bytes.Cut(document, []byte("{"))
	line, isLine := bytes.CutPrefix(bytes.TrimPrefix(after, []byte("\r")), []byte("\n"))
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	if !found || !isLine || len(indent) == 0 {
		return "  "
	}
	return string(indent)
}
