package static

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// A builder makes a set. A stylesheet's hashed name depends on what it refers
// to, so that comes first.
type builder struct {
	fsys fs.FS
	set  *Set
	open []string // the stylesheets that are being added, outermost first
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
	reference = regexp.MustCompile(`(@import\s+["']|url\(\s*["']?)([^"')\s]+)`)
)

// resolve rewrites the references of a stylesheet, whose comments it drops:
// what stands in a comment is no reference.
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
		url, err := b.add(path.Join(path.Dir(name), target))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s refers to %s: %w", name, target, err))
			return match
		}
		return append(parts[1], url...)
	})
	return css, errors.Join(errs...)
}
