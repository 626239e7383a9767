package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// byteOrderMark begins the files of some editors on Windows.
var byteOrderMark = []byte("\ufeff")

// A member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("it isn't a JSON object")

// An object is a JSON object in a document. Its parts know their offsets there.
type object struct {
	*hujson.Object

	end int // where the object's } is
}

// parseRoot returns the object that a document is.
func parseRoot(document []byte) (o object, err error) {
	text := bytes.Clone(document)
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n') // which the parser wants at the end of a line comment
	}
	if bytes.HasPrefix(text, byteOrderMark) {
		copy(text, "   ") // of the same length
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return o, fmt.Errorf("it isn't JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return asObject(root)
}

func asObject(v hujson.Value) (o object, err error) {
	parsed, ok := v.Value.(*hujson.Object)
	if !ok {
		return o, errNoObject
	}
	return object{parsed, v.EndOffset - 1}, nil
}

// find returns the object at a path of names in a document.
func find(document []byte, path ...string) (o object, err error) {
	o, err = parseRoot(document)
	for _, name := range path {
		if err != nil {
			return o, err
		}
		i := o.index(name)
		if i < 0 {
			return o, errors.New("no such member")
		}
		o, err = asObject(o.Members[i].Value)
	}
	return o, err
}

// index returns the last member with a name, which is the one that counts, or -1.
func (o object) index(name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// compact returns a value as JSON without comments and white space.
func compact(v hujson.Value) []byte {
	v = v.Clone()
	v.Minimize()
	return v.Pack()
}

// trimSpaceAfter returns comments without the white space after them.
func trimSpaceAfter(e hujson.Extra) hujson.Extra { return bytes.TrimRight(e, " \t\r\n") }
