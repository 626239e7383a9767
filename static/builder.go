package static

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A builder makes a set. A stylesheet's hashed name depends on what it refers
// to, so that comes first.
type builder struct {
	fsys  fs.FS
	set   *Set
	open  []string        // the stylesheets that are being added, outermost first
	parts map[string]bool // stylesheets that stand in others, and are not served
}

// add adds the named file, unless it is there, and returns its URL.
func (b *builder) add(name string) (string, error) {
	if url := b.set.urls[name]; url != "" {
		return url, nil
	}
	content, err := fs.ReadFile(b.fsys, name)
	if err != nil {
		return "", err
	}
	if path.Ext(name) == ".css" {
		if content, err = b.resolve(name, content); err != nil {
			return "", err
		}
	}
	f, err := newFile(name, content)
	if err != nil {
		return "", err
	}
	url := hashed(name, content)
	b.set.urls[name], b.set.files[url] = url, f
	return url, nil
}

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	reference = regexp.MustCompile(`(@import\s+["']|url\(\s*["']?)([^"')\s]+)(["']\s*;)?`)
)

// resolve rewrites the references of a stylesheet, whose comments it drops:
// what stands in a comment is no reference. A stylesheet that is imported
// without a condition takes the place of its import, which saves a request.
func (b *builder) resolve(name string, css []byte) ([]byte, error) {
	for _, outer := range b.open {
		if outer == name {
			return nil, fmt.Errorf("%s imports itself", strings.Join(append(b.open, name), ": "))
		}
	}
	b.open = append(b.open, name)
	defer func() { b.open = b.open[:len(b.open)-1] }()

	var errs []error
	css = reference.ReplaceAllFunc(comment.ReplaceAll(css, nil), func(match []byte) []byte {
		parts := reference.FindSubmatch(match)
		target := string(parts[2])
		if strings.HasPrefix(target, "#") || strings.HasPrefix(target, "data:") {
			return match
		}
		put, err := b.refer(path.Join(path.Dir(name), target), parts)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s refers to %s: %w", name, target, err))
			return match
		}
		return put
	})
	return css, errors.Join(errs...)
}

// refer is what stands for a reference to the named file, of which parts are
// what reference matched.
func (b *builder) refer(name string, parts [][]byte) ([]byte, error) {
	if bytes.HasPrefix(parts[1], []byte("@")) && len(parts[3]) > 0 {
		css, err := fs.ReadFile(b.fsys, name)
		if err != nil {
			return nil, err
		}
		b.parts[name] = true
		return b.resolve(name, css)
	}
	url, err := b.add(name)
	return slices.Concat(parts[1], []byte(url), parts[3]), err
}
