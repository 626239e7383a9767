package ask

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
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
	p.err = p.applyOptions(opts)
	p.decode = func(r generators.Reply) ([]Root, error) {
		list, err := decodeAs[listRootsResult](r.Value)
		return list.Roots, err
	}
	return p
}

// listRootsResult is MCP's ListRootsResult.
type listRootsResult struct {
	Roots []Root `json:"roots"`
}

// checkRoots takes a ListRootsResult, or what a person listed, and returns the
// former.
func (q *Question) checkRoots(content json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(content) || rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, notObjectError(content)
	}
	listed, err := property(content, rootsField)
	if err != nil {
		return nil, err
	}
	var list listRootsResult
	switch {
	case listed == nil:
		return nil, invalidError(rootsField, "is required")
	case rawjson.TypeName(listed) == rawjson.TextType:
		list, err = q.parseTypedRoots(content)
	case rawjson.TypeName(listed) == rawjson.ListType:
		list, err = parseRootList(listed)
	default:
		err = invalidError(rootsField, fmt.Sprintf("must be a list, not %s", rawjson.TypeName(listed)))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// parseRootList reads the list of an MCP client.
func parseRootList(raw json.RawMessage) (listRootsResult, error) {
	list := listRootsResult{Roots: []Root{}}
	if json.Unmarshal(raw, &list.Roots) != nil {
		return list, invalidError(rootsField, "must be a list of objects with a uri and, if need be, a name")
	}
	return list, list.validate(func(i int) string { return fmt.Sprintf("%s/%d", rootsField, i) })
}

// parseTypedRoots reads what a person listed, a folder a line.
func (q *Question) parseTypedRoots(content json.RawMessage) (listRootsResult, error) {
	list := listRootsResult{Roots: []Root{}}
	content, err := q.Fields.Check(content)
	if err != nil {
		return list, err
	}
	text, err := property(content, rootsField)
	if err != nil {
		return list, err
	}
	lines, _ := rawjson.DecodeText(text)
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			list.Roots = append(list.Roots, Root{URI: fileURI(line)})
		}
	}
	if len(list.Roots) == 0 {
		return list, invalidError(rootsField, "is required")
	}
	return list, list.validate(func(int) string { return rootsField })
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

// validate holds roots against their rules. An error's path is what at says of
// the root with that index.
func (l listRootsResult) validate(at func(int) string) error {
	if len(l.Roots) > maxRoots {
		return invalidError(rootsField, fmt.Sprintf("must be at most %d; these are %d", maxRoots, len(l.Roots)))
	}
	var errs []generators.FieldError
	for i, r := range l.Roots {
		if message := r.problem(); message != "" && len(errs) < maxErrors {
			errs = append(errs, generators.FieldError{Path: "/" + at(i), Message: message})
		}
	}
	if errs != nil {
		return &generators.InvalidError{Fields: errs}
	}
	return nil
}

// problem says what is wrong with a root; nothing if it is right.
func (r Root) problem() string {
	if len(r.URI) > maxRootURI {
		return fmt.Sprintf("must have addresses of at most %d bytes", maxRootURI)
	}
	u, err := url.Parse(r.URI)
	switch {
	case err != nil || u.Scheme != "file" || !strings.HasPrefix(r.URI, "file://") || !strings.HasPrefix(u.Path, "/"):
		return fmt.Sprintf("must be a path from its root or a file:// address, not %q", truncate(r.URI, 100))
	case utf8.RuneCountInString(r.Name) > maxRootName:
		return fmt.Sprintf("must have names of at most %d characters", maxRootName)
	}
	return ""
}

// truncate is at most n characters of a text.
func truncate(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
