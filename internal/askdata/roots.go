package askdata

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
)

// A Root is a folder or file; see ask.Root.
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// The limits on an answer to a roots question.
const (
	maxRoots    = 1000
	maxRootURI  = 4096 // bytes
	maxRootName = 500  // characters
)

// RootsField is the name of the field in which a person lists folders.
const RootsField = "roots"

// listRootsResult is MCP's ListRootsResult.
type listRootsResult struct {
	Roots []Root `json:"roots"`
}

// checkRoots validates a ListRootsResult, or the folders that a person typed, and
// returns a ListRootsResult.
func (q *Question) checkRoots(content json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(content) || rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, notObjectError(content)
	}
	listed, err := Property(content, RootsField)
	if err != nil {
		return nil, err
	}
	var list listRootsResult
	switch {
	case listed == nil:
		return nil, invalidError(violation("/"+RootsField, rule.Required, "", ""))
	case rawjson.TypeName(listed) == rawjson.TextType:
		list, err = q.parseTypedRoots(content)
	case rawjson.TypeName(listed) == rawjson.ListType:
		list, err = parseRootList(listed)
	default:
		err = invalidError(driver.At(RootsField, fmt.Sprintf("must be a list, not %s", rawjson.TypeName(listed))))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// parseRootList parses the list of an MCP client.
func parseRootList(raw json.RawMessage) (listRootsResult, error) {
	list := listRootsResult{Roots: []Root{}}
	if json.Unmarshal(raw, &list.Roots) != nil {
		return list, invalidError(driver.At(RootsField, "must be a list of objects with a uri and an optional name"))
	}
	return list, list.validate(func(i int) string { return fmt.Sprintf("%s/%d", RootsField, i) })
}

// parseTypedRoots parses the lines that a person typed, one folder per line.
func (q *Question) parseTypedRoots(content json.RawMessage) (listRootsResult, error) {
	list := listRootsResult{Roots: []Root{}}
	content, err := q.Fields.Check(content)
	if err != nil {
		return list, err
	}
	text, err := Property(content, RootsField)
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
		return list, invalidError(violation("/"+RootsField, rule.Required, "", ""))
	}
	return list, list.validate(func(int) string { return RootsField })
}

// fileURI returns the file:// address of an absolute path, which may begin with a
// drive letter. It returns anything else unchanged.
func fileURI(path string) string {
	if len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') {
		path = "/" + strings.ReplaceAll(path, `\`, "/")
	}
	if !strings.HasPrefix(path, "/") {
		return path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// validate checks every root. at returns the path of a root in the error by its
// index.
func (l listRootsResult) validate(at func(int) string) error {
	if len(l.Roots) > maxRoots {
		return invalidError(driver.At(RootsField, fmt.Sprintf("must be at most %d; there are %d", maxRoots, len(l.Roots))))
	}
	var errs []generators.FieldError
	for i, r := range l.Roots {
		if message := r.problem(); message != "" && len(errs) < maxErrors {
			errs = append(errs, generators.FieldError{Path: "/" + at(i), Message: message})
		}
	}
	if errs != nil {
		return invalidError(errs...)
	}
	return nil
}

// problem returns a message if the root is invalid, or the empty string.
func (r Root) problem() string {
	if len(r.URI) > maxRootURI {
		return fmt.Sprintf("must have addresses of at most %d bytes", maxRootURI)
	}
	u, err := url.Parse(r.URI)
	switch {
	case err != nil || u.Scheme != "file" || !strings.HasPrefix(r.URI, "file://") || !strings.HasPrefix(u.Path, "/"):
		return fmt.Sprintf("must be an absolute path or a file:// address, not %q", humanize.Truncate(r.URI, 100))
	case utf8.RuneCountInString(r.Name) > maxRootName:
		return fmt.Sprintf("must have names of at most %d characters", maxRootName)
	}
	return ""
}
