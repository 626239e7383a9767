// Package assets serves static files under names that contain a digest of their
// content, so that browsers may cache them indefinitely and never combine an old file
// with a new page.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// prefix is the path under which the server serves the files.
const prefix = "/static/"

// A Set serves files under hashed names. It is immutable and safe for concurrent use.
type Set struct {
	urls    map[string]string   // by name
	files   map[string]*file    // by URL
	imports map[string][]string // the names of the modules that each module imports
}

type file struct {
	contentType string
	plain       []byte
	gzipped     func() []byte // compresses it once; nil unless that is shorter
}

var _ http.Handler = (*Set)(nil)

// New returns a set of all files of fsys and of more, by name. It rewrites references from stylesheets and
// script modules to other files to their hashed names, relative to the referring file, so
// that the set can be served under any path; a reference to a missing file is an error.
// It inlines stylesheets that others import without a condition, and leaves them out of
// the set.
func New(fsys fs.FS, more map[string]string) (*Set, error) {
	b := builder{fsys: fsys, more: more, set: &Set{urls: map[string]string{}, files: map[string]*file{}, imports: map[string][]string{}}, inlined: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !b.inlined[name] {
			_, err = b.add(name)
		}
		return err
	})
	for name := range more {
		if err == nil {
			_, err = b.add(name)
		}
	}
	for name := range b.inlined { // the walk may have added it first
		delete(b.set.files, b.set.urls[name])
		delete(b.set.urls, name)
	}
	return b.set, err
}

// URL returns the URL path of the named file, such as
// "/static/beam.0f3a….css" for "beam.css", or "" if there is none.
func (s *Set) URL(name string) string { return s.urls[name] }

// Has reports whether the set contains the named file.
func (s *Set) Has(name string) bool { return s.urls[name] != "" }

// Text returns the content of the named file; "" if there is none.
func (s *Set) Text(name string) string {
	f := s.files[s.urls[name]]
	if f == nil {
		return ""
	}
	return string(f.plain)
}

// Imports returns the URLs of the modules that the named module imports, directly or
// through others. A page can name them, so that the browser loads all at once.
func (s *Set) Imports(name string) []string {
	var urls []string
	pending := slices.Clone(s.imports[name])
	for seen := map[string]bool{}; len(pending) > 0; pending = pending[1:] {
		if next := pending[0]; !seen[next] {
			seen[next] = true
			urls = append(urls, s.urls[next])
			pending = append(pending, s.imports[next]...)
		}
	}
	return urls
}

// ServeHTTP serves GET and HEAD requests for the paths that URL returns.
func (s *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are allowed", http.StatusMethodNotAllowed)
		return
	}
	f, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	f.serve(w, r)
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h, body := w.Header(), f.plain
	if gzipped := f.gzipped(); gzipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header) {
			h.Set("Content-Encoding", "gzip")
			body = gzipped
		}
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Type", f.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		w.Write(body)
	}
}

// acceptsGzip reports whether Accept-Encoding (RFC 9110, section 12.5.3) allows gzip. It
// ignores a wildcard: the plain file is always correct.
func acceptsGzip(h http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		q, hasWeight := strings.CutPrefix(strings.ToLower(strings.TrimSpace(weight)), "q=")
		v, err := strconv.ParseFloat(q, 64)
		return !hasWeight || err == nil && v > 0
	}
	return false
}

// mediaTypes maps extensions to media types. Package mime is not used, since it reads
// the configuration of the machine.
var mediaTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".ico":   "image/x-icon",
	".js":    "text/javascript; charset=utf-8",
	".json":  "application/json",
	".md":    "text/plain; charset=utf-8",
	".png":   "image/png",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

func newFile(name string, content []byte) (*file, error) {
	contentType := mediaTypes[path.Ext(name)]
	if contentType == "" {
		return nil, fmt.Errorf("%s: no media type is known for this extension", name)
	}
	return &file{contentType, content, sync.OnceValue(func() []byte { return compress(content) })}, nil
}

// compress returns content compressed; nil if that isn't shorter.
func compress(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil // there is such a level
	}
	_, _ = w.Write(content) // a buffer accepts everything
	if _ = w.Close(); b.Len() >= len(content) {
		return nil
	}
	return b.Bytes()
}

// hashedURL inserts a digest of the content before the name's extension.
func hashedURL(name string, content []byte) string {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return prefix + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:8]) + ext
}
