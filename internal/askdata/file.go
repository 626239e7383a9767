package askdata

import (
	"cmp"
	"fmt"
	"mime"
	"strings"
	"unicode"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rule"
)

// FileRules are the rules of a file question.
type FileRules struct {
	// Types are media types ("text/csv", "image/*") and file name extensions
	// (".csv"), as in the accept attribute of HTML. No types accept any file.
	Types   []string `json:"types,omitempty"`
	MaxSize int64    `json:"maxSize"` // of one file, in bytes
	Min     int      `json:"min"`     // number of files
	Max     int      `json:"max"`
}

// A FileRef identifies a stored file of an answer.
type FileRef struct {
	Name      string `json:"name"` // cleaned by [CleanName]
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`   // in bytes
	Digest    string `json:"digest"` // of its content, in the blob store
}

// Accepts returns an error if the rules don't accept a file of that name and media
// type. The error lists the accepted types.
func (r *FileRules) accepts(name, mediaType string) error {
	if len(r.Types) == 0 {
		return nil
	}
	mediaType, _, _ = mime.ParseMediaType(mediaType)
	for _, t := range r.Types {
		switch t = strings.ToLower(t); {
		case t == "*/*":
			return nil
		case strings.HasPrefix(t, "."):
			if strings.HasSuffix(strings.ToLower(name), t) {
				return nil
			}
		case strings.HasSuffix(t, "/*"):
			if strings.HasPrefix(mediaType, strings.TrimSuffix(t, "*")) {
				return nil
			}
		case t == mediaType:
			return nil
		}
	}
	return fmt.Errorf("must be %s; %s is not accepted", strings.Join(r.Types, " or "), cmp.Or(name, "this file"))
}

// validate returns an error if no files can satisfy the rules.
func (r *FileRules) validate() error {
	if r.Min < 0 || r.Max < 1 || r.Min > r.Max {
		return fmt.Errorf("can't be %d to %d files", r.Min, r.Max)
	}
	if r.Max > 10_000 {
		return fmt.Errorf("can't be %d files: the maximum is 10,000", r.Max)
	}
	if r.MaxSize <= 0 || r.MaxSize > 1<<40 {
		return fmt.Errorf("can't have a maximum file size of %d bytes: it must be 1 byte to 1 TiB", r.MaxSize)
	}
	for _, t := range r.Types {
		if len(t) < 2 || !strings.HasPrefix(t, ".") && !strings.Contains(t, "/") {
			return fmt.Errorf("%q is neither a media type such as text/csv nor an extension such as .csv", t)
		}
	}
	return nil
}

// checkFiles validates stored files.
func (r *FileRules) checkFiles(refs []FileRef) error {
	switch n := len(refs); {
	case n < r.Min && r.Max == 1:
		return invalidError(generators.FieldError{Path: "/file", Message: "is required: choose a file", Rule: rule.Required})
	case n < r.Min:
		return invalidError(driver.At("file", fmt.Sprintf("must be at least %d files; there are %d", r.Min, n)))
	case n > r.Max:
		return invalidError(driver.At("file", fmt.Sprintf("must be at most %d; there are %d", r.Max, n)))
	}
	for _, f := range refs {
		if err := r.accepts(f.Name, f.MediaType); err != nil {
			return invalidError(driver.At("file", err.Error()))
		}
		if f.Size > r.MaxSize {
			return invalidError(driver.At("file", fmt.Sprintf("%s has %d bytes; at most %d are accepted", f.Name, f.Size, r.MaxSize)))
		}
	}
	return nil
}

// CleanName returns a file's name without characters that could make it look like
// another name: control characters, line and paragraph separators, and Unicode's
// bidirectional controls. It replaces invalid UTF-8 by U+FFFD.
func CleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd"))
}
