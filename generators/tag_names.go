package generators

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/humanize"
)

// tagNames holds the names of Beam's struct tags.
var tagNames = append(slices.Sorted(maps.Keys(tagSetters)), "enum", "enumTitles")

// otherTagNames holds names that resemble Beam's but belong to other packages.
var otherTagNames = []string{
	"enums", // swaggo/swag
}

// checkTagNames returns an error if a tag has a name that resembles one of Beam's, if
// one of Beam's tags is given twice, or if reflect can't read one because the syntax
// before it is wrong. It accepts all other names, which belong to other packages.
func checkTagNames(tag reflect.StructTag) error {
	names, rest := splitTag(tag)
	for i, name := range names {
		switch meant := resembledTag(name); {
		case meant == name && slices.Contains(names[:i], name):
			return fmt.Errorf("tag %s: is given twice", name)
		case meant != "" && meant != name:
			return fmt.Errorf("tag %s: is unknown; did you mean %s?", name, meant)
		}
	}
	if rest != "" && slices.ContainsFunc(strings.FieldsFunc(rest, isNotLetter), func(word string) bool { return resembledTag(word) != "" }) {
		return fmt.Errorf(`tag %s: can't be read; write name:"value" pairs with a space between them`, rest)
	}
	return nil
}

func isNotLetter(r rune) bool { return (r|0x20) < 'a' || 'z' < (r|0x20) }

// splitTag returns the names in a tag, and what remains where its syntax is wrong. It
// reads a tag as [reflect.StructTag.Lookup] does.
func splitTag(tag reflect.StructTag) (names []string, rest string) {
	for rest = strings.TrimLeft(string(tag), " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		name, value, found := strings.Cut(rest, ":")
		if !found || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f }) {
			return names, rest
		}
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil || quoted[0] != '"' {
			return names, rest
		}
		names, rest = append(names, name), value[len(quoted):]
	}
	return names, ""
}

// resembledTag returns the name of Beam's tag that a name is, or is probably meant to
// be, or "" if it resembles none.
func resembledTag(name string) string {
	if slices.Contains(tagNames, name) {
		return name
	}
	if slices.Contains(otherTagNames, name) {
		return ""
	}
	nearest, fewest := "", 3
	for _, ours := range tagNames {
		edits := humanize.Distance(name, ours)
		if edits < fewest && (edits < 2 || len(ours) > len("format")) {
			nearest, fewest = ours, edits
		}
	}
	return nearest
}

// formats holds the formats that a schema checks.
var formats = []string{
	"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "iri", "iri-reference", "json-pointer",
	"period", "regex", "relative-json-pointer", "semver", "time", "uri", "uri-reference", "uri-template", "uuid",
}

func checkFormat(v string) error {
	if !slices.Contains(formats, v) {
		return errors.New("must be one of " + strings.Join(formats, ", "))
	}
	return nil
}
