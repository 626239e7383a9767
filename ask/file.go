package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// defaultMaxSize is the maximum size of a file, in bytes, unless [MaxSize] sets
// another.
const defaultMaxSize = 256 << 20

// A Handle is a file that the photon can read any number of times until the run
// ends.
type Handle struct {
	Name      string `json:"name"` // without characters that make it look like another
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"` // in bytes

	digest string // of its content, in the blob store
	open   func(digest string) (io.ReadCloser, error)
}

// Open returns a new reader of the file's content. The caller must close it.
func (h Handle) Open() (io.ReadCloser, error) {
	if h.open == nil {
		return nil, errors.New("ask: the content of the file is not available")
	}
	return h.open(h.digest)
}

// Accepting sets the media types and file name extensions that a file question
// accepts.
func Accepting(types ...string) Option {
	return fileOption("Accepting", func(r *askdata.FileRules) { r.Types = types })
}

// MaxSize limits the size of each file, in bytes.
func MaxSize(bytes int64) Option {
	return fileOption("MaxSize", func(r *askdata.FileRules) { r.MaxSize = bytes })
}

// Count limits the number of files.
func Count(min, max int) Option {
	return fileOption("Count", func(r *askdata.FileRules) { r.Min, r.Max = min, max })
}

func fileOption(name string, change func(*askdata.FileRules)) Option {
	return Option{func(q *askdata.Question) error {
		if q.File == nil {
			return fmt.Errorf("ask.%s is for files, not for a %s question", name, q.Kind)
		}
		change(q.File)
		return nil
	}}
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
	p := &Prompt[[]Handle]{key: key, question: &askdata.Question{
		Kind: askdata.KindFile, Message: message,
		File: &askdata.FileRules{MaxSize: defaultMaxSize, Min: 1, Max: 1},
	}}
	p.err = p.applyOptions(opts)
	p.decode = func(r driver.Reply) ([]Handle, error) {
		var refs []askdata.FileRef
		if len(r.Value) == 0 { // no file was required
			return nil, nil
		}
		if err := json.Unmarshal(r.Value, &refs); err != nil {
			return nil, err
		}
		handles := make([]Handle, len(refs))
		for i, ref := range refs {
			handles[i] = Handle{ref.Name, ref.MediaType, ref.Size, ref.Digest, r.Open}
		}
		return handles, nil
	}
	return p
}
