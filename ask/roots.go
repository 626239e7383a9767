package ask

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
)

// A Root is a folder or file that a tool may work in (MCP 2025-11-25, Client
// Features, Roots).
type Root struct {
	URI  string `json:"uri"` // begins with file://
	Name string `json:"name,omitempty"`
}

// What an answer to a roots question may hold.
const (
	maxRoots    = 1000
	maxRootURI  = 4096 // bytes
	maxRootName = 500  // characters
)

// rootsField is the field in which a person lists folders.
const rootsField = "roots"

// Roots asks which folders the tool may work in. An MCP client answers with
// its roots, a person with paths, one a line. There may be none.
func Roots(yield generators.Yield, key string, opts ...Option) ([]Root, error) {
	return ForRoots(key, opts...).Ask(yield)
}

// ForRoots is the prompt of [Roots].
func ForRoots(key string, opts ...Option) *Prompt[[]Root] {
	p := &Prompt[[]Root]{key: key, question: &Question{
		Kind: KindRoots, Message: "Which folders may be worked in?",
		Fields: Fields{{
			Name: rootsField, Title: "Folders", Description: "One a line: a path from its root, such as /home/ada/project, or a file:// address.",
			Type: "string", Format: FormatLong, Required: true, MaxLength: 100_000,
		}},
	}}
	p.err = p.finish(opts)
	p.decode = func(r generators.Reply) ([]Root, error) {
		list, err := decodeAs[rootList](r.Value)
		return list.Roots, err
	}
	return p
}

// rootList is MCP's ListRootsResult.
type rootList struct {
	Roots []Root `json:"roots"`
}

// checkRoots takes a ListRootsResult, or what a person listed, and returns the
// former.
func (q *Question) checkRoots(content json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(content) || typeOf(content) != isObject {
		return nil, notObject(content)
	}
	listed, err := property(content, rootsField)
	if err != nil {
		return nil, err
	}
	var list rootList
	switch {
	case listed == nil:
		return nil, invalid(rootsField, "is required")
	case typeOf(listed) == isText:
		list, err = q.typedRoots(content)
	case typeOf(listed) == isList:
		list, err = givenRoots(listed)
	default:
		err = invalid(rootsField, fmt.Sprintf("must be a list, not %s", typeOf(listed)))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// givenRoots reads the list of an MCP client.
func givenRoots(raw json.RawMessage) (rootList, error) {
	list := rootList{Roots: []Root{}}
	if json.Unmarshal(raw, &list.Roots) != nil {
		return list, invalid(rootsField, "must be a list of objects with a uri and, if need be, a name")
	}
	return list, list.check(func(i int) string { return fmt.Sprintf("%s/%d", rootsField, i) })
}

// typedRoots reads what a person listed, a folder a line.
func (q *Question) typedRoots(content json.RawMessage) (rootList, error) {
	list := rootList{Roots: []Root{}}
	content, err := q.Fields.Check(content)
	if err != nil {
		return list, err
	}
	text, err := property(content, rootsField)
	if err != nil {
		return list, err
	}
	lines, _ := decodeText(text)
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			list.Roots = append(list.Roots, Root{URI: fileURI(line)})
		}
	}
	if len(list.Roots) == 0 {
		return list, invalid(rootsField, "is required")
	}
	return list, list.check(func(int) string { return rootsField })
}

// fileURI makes a file address of a whole path, also of one with a drive's
// letter; anything else is left as it is.
func fileURI(path string) string {
	if len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') {
		path = "/" + strings.ReplaceAll(path, `\`, "/")
	}
	if !strings.HasPrefix(path, "/") {
		return path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// check holds roots against their rules. An error's path is what at says of
// the root with that index.
func (l rootList) check(at func(int) string) error {
	if len(l.Roots) > maxRoots {
		return invalid(rootsField, fmt.Sprintf("must be at most %d; these are %d", maxRoots, len(l.Roots)))
	}
	var errs []generators.FieldError
	for i, r := range l.Roots {
		if message := r.wrong(); message != "" && len(errs) < maxErrors {
			errs = append(errs, generators.FieldError{Path: "/" + at(i), Message: message})
		}
	}
	if errs != nil {
		return &generators.InvalidError{Fields: errs}
	}
	return nil
}

// wrong says what is wrong with a root; nothing if it is right.
func (r Root) wrong() string {
	if len(r.URI) > maxRootURI {
		return fmt.Sprintf("must have addresses of at most %d bytes", maxRootURI)
	}
	u, err := url.Parse(r.URI)
	switch {
	case err != nil || u.Scheme != "file" || !strings.HasPrefix(r.URI, "file://") || !strings.HasPrefix(u.Path, "/"):
		return fmt.Sprintf("must be a path from its root or a file:// address, not %q", clipText(r.URI, 100))
	case utf8.RuneCountInString(r.Name) > maxRootName:
		return fmt.Sprintf("must have names of at most %d characters", maxRootName)
	}
	return ""
}

// clipText is at most n characters of a text.
func clipText(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
