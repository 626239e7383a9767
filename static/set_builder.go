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

// A builder builds a set. It adds the files that a stylesheet refers to before the
// stylesheet, whose hash depends on their names.
type builder struct {
	fsys        fs.FS
	set         *Set
	importChain []string        // the stylesheets being added, outermost first
	inlined     map[string]bool // stylesheets that are part of others and not served
}

// add adds the named file unless it was added before, and returns its URL.
func (b *builder) add(name string) (string, error) {
	if url := b.set.urls[name]; url != "" {
		return url, nil
	}
	content, err := fs.ReadFile(b.fsys, name)
	if err != nil {
		return "", err
	}
	if path.Ext(name) == ".css" {
		if content, err = b.resolveReferences(name, content); err != nil {
			return "", err
		}
	}
	f, err := newFile(name, content)
	if err != nil {
		return "", err
	}
	url := hashedURL(name, content)
	b.set.urls[name], b.set.files[url] = url, f
	return url, nil
}

var (
	cssComment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssReference = regexp.MustCompile(`(@import\s+["']|url\(\s*["']?)([^"')\s]+)(["']\s*;)?`)
)

// resolveReferences rewrites the references of a stylesheet and removes its comments,
// which may contain text that looks like a reference. It replaces an unconditional
// import with the imported stylesheet, which saves a request.
func (b *builder) resolveReferences(name string, css []byte) ([]byte, error) {
	for _, outer := range b.importChain {
		if outer == name {
			return nil, fmt.Errorf("%s imports itself", strings.Join(append(b.importChain, name), ": "))
		}
	}
	b.importChain = append(b.importChain, name)
	defer func() { b.importChain = b.importChain[:len(b.importChain)-1] }()

	var errs []error
	css = cssReference.ReplaceAllFunc(cssComment.ReplaceAll(css, nil), func(match []byte) []byte {
		parts := cssReference.FindSubmatch(match)
		target := string(parts[2])
		if strings.HasPrefix(target, "#") || strings.HasPrefix(target, "data:") {
			return match
		}
		resolved, err := b.replaceReference(path.Join(path.Dir(name), target), parts)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s refers to %s: %w", name, target, err))
			return match
		}
		return resolved
	})
	return css, errors.Join(errs...)
}

// replaceReference returns the replacement for a reference to the named file. Parts are
// the submatches of cssReference.
func (b *builder) replaceReference(name string, parts [][]byte) ([]byte, error) {
	if bytes.HasPrefix(parts[1], []byte("@")) && len(parts[3]) > 0 {
		css, err := fs.ReadFile(b.fsys, name)
		if err != nil {
			return nil, err
		}
		b.inlined[name] = true
		return b.resolveReferences(name, css)
	}
	url, err := b.add(name)
	return slices.Concat(parts[1], []byte(url), parts[3]), err
}
