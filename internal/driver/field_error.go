package driver

import (
	"strings"

	"github.com/photon-beam/beam/generators"
)

// FieldOf returns the name of the top-level property that the error is about.
func FieldOf(e generators.FieldError) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(e.Path, "/"), "/")
	return pointerUnescaper.Replace(name)
}

// Sentence returns the error as a sentence that calls the field label: "Name is
// required." Without a label, it names the path.
func Sentence(e generators.FieldError, label string) string {
	switch {
	case label != "":
	case e.Path != "":
		label = e.Path
	default:
		label = "The value"
	}
	if !startsWithVerb(e.Message) {
		label += ":"
	}
	return label + " " + strings.TrimSuffix(e.Message, ".") + "."
}

// startsWithVerb reports whether a message follows its subject, as most do.
func startsWithVerb(message string) bool {
	first, _, _ := strings.Cut(message, " ")
	switch first {
	case "is", "must", "has", "can't":
		return true
	}
	return false
}

// At returns a generators.FieldError for a top-level property.
func At(field, message string) generators.FieldError {
	return generators.FieldError{Path: "/" + pointerEscaper.Replace(field), Message: message}
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)
