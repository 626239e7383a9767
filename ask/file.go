package ask

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rule"
)

// DefaultMaxSize is the maximum size of a file, in bytes, unless [MaxSize] sets
// another.
const defaultMaxSize = 256 << 20

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

// A Handle is a file that the photon can read any number of times until the run
// ends.
type Handle struct {
	FileRef
	open func(digest string) (io.ReadCloser, error)
}

// Open returns a new reader of the file's content. The caller must close it.
func (h Handle) Open() (io.ReadCloser, error) {
	if h.open == nil {
		return nil, errors.New("ask: the content of the file is not available")
	}
	return h.open(h.Digest)
}

// Accepting sets the media types and file name extensions that a file question
// accepts.
func Accepting(types ...string) Option {
	return fileOption("Accepting", func(r *FileRules) { r.Types = types })
}

// MaxSize limits the size of each file, in bytes.
func MaxSize(bytes int64) Option {
	return fileOption("MaxSize", func(r *FileRules) { r.MaxSize = bytes })
}

// Count limits the number of files.
func Count(min, max int) Option {
	return fileOption("Count", func(r *FileRules) { r.Min, r.Max = min, max })
}

func fileOption(name string, change func(*FileRules)) Option {
	return func(q *Question) error {
		if q.File == nil {
			return fmt.Errorf("ask.%s is for files, not for a %s question", name, q.Kind)
		}
		change(q.File)
		return nil
	}
}

// File asks for one file.
func File(yield generators.Yield, key, message string, opts ...Option) (Handle, error) {
	handles, err := ForFiles(key, message, opts...).Ask(yield)
	if err != nil || len(handles) == 0 {
		return Handle{}, err
	}
	return handles[0], nil
}

// Files asks for 1 to 100 files; [Count] sets other limits.
func Files(yield generators.Yield, key, message string, opts ...Option) ([]Handle, error) {
	return ForFiles(key, message, append([]Option{Count(1, 100)}, opts...)...).Ask(yield)
}

// ForFiles returns the prompt of [File] and [Files].
func ForFiles(key, message string, opts ...Option) *Prompt[[]Handle] {
	p := &Prompt[[]Handle]{key: key, question: &Question{
		Kind: KindFile, Message: message,
		File: &FileRules{MaxSize: defaultMaxSize, Min: 1, Max: 1},
	}}
	p.err = p.applyOptions(opts)
	p.decode = func(r generators.Reply) ([]Handle, error) {
		var refs []FileRef
		if len(r.Value) == 0 { // no file was required
			return nil, nil
		}
		if err := json.Unmarshal(r.Value, &refs); err != nil {
			return nil, err
		}
		handles := make([]Handle, len(refs))
		for i, ref := range refs {
			handles[i] = Handle{ref, r.Open}
		}
		return handles, nil
	}
	return p
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
		return invalidError(generators.At("file", fmt.Sprintf("must be at least %d files; there are %d", r.Min, n)))
	case n > r.Max:
		return invalidError(generators.At("file", fmt.Sprintf("must be at most %d; there are %d", r.Max, n)))
	}
	for _, f := range refs {
		if err := r.accepts(f.Name, f.MediaType); err != nil {
			return invalidError(generators.At("file", err.Error()))
		}
		if f.Size > r.MaxSize {
			return invalidError(generators.At("file", fmt.Sprintf("%s has %d bytes; at most %d are accepted", f.Name, f.Size, r.MaxSize)))
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
