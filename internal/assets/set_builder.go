package assets

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

// A builder builds a set. It adds the files that a stylesheet or module refers to before
// the file itself, whose hash depends on their names.
type builder struct {
	fsys           fs.FS
	more           map[string]string // further files
	set            *Set
	referenceChain []string        // the files being added, outermost first
	inlined        map[string]bool // stylesheets that are part of others and not served
}

// add adds the named file unless it was added before, and returns its URL.
func (b *builder) add(name string) (string, error) {
	if url := b.set.urls[name]; url != "" {
		return url, nil
	}
	content, err := b.readFile(name)
	if err != nil {
		return "", err
	}
	switch path.Ext(name) {
	case ".css":
		content, err = b.resolveStylesheet(name, name, content)
	case ".js":
		content, err = b.resolveModule(name, content)
	}
	if err != nil {
		return "", err
	}
	f, err := newFile(name, content)
	if err != nil {
		return "", err
	}
	url := hashedURL(name, content)
	b.set.urls[name], b.set.files[url] = url, f
	return url, nil
}

func (b *builder) readFile(name string) ([]byte, error) {
	if content, ok := b.more[name]; ok {
		return []byte(content), nil
	}
	return fs.ReadFile(b.fsys, name)
}

// enter adds a file to the chain of references. The caller must call leave unless there
// is an error, which is a circle.
func (b *builder) enter(name string) (leave func(), err error) {
	if slices.Contains(b.referenceChain, name) {
		return nil, fmt.Errorf("%s imports itself", strings.Join(append(b.referenceChain, name), ": "))
	}
	b.referenceChain = append(b.referenceChain, name)
	return func() { b.referenceChain = b.referenceChain[:len(b.referenceChain)-1] }, nil
}

// relativeURL returns the URL of a file relative to the file that refers to it.
func relativeURL(referrer, url string) string {
	up := strings.Repeat("../", strings.Count(referrer, "/"))
	if up == "" {
		up = "./"
	}
	return up + strings.TrimPrefix(url, prefix)
}

// moduleImport matches a static import or re-export of a relative module. The specifiers
// of dynamic imports are not rewritten.
var moduleImport = regexp.MustCompile(`(?m)^((?:import|export)\s(?:[^"'();=]*\bfrom\s*)?["'])(\.{1,2}/[^"']+)(["'])`)

// moduleComment matches a comment that begins a line. A line within a template literal must
// not look like one.
var moduleComment = regexp.MustCompile(`(?m)^[ \t]*(?://.*|/\*\*(?s:.*?)\*/)\n`)

// resolveModule rewrites the imports of a script module, and removes its comments, unless it
// is somebody else's: they may be its license.
func (b *builder) resolveModule(name string, js []byte) ([]byte, error) {
	if !strings.HasPrefix(name, "vendor/") {
		js = moduleComment.ReplaceAll(js, nil)
	}
	leave, err := b.enter(name)
	if err != nil {
		return nil, err
	}
	defer leave()
	return replaceReferences(name, moduleImport, js, func(target string, parts [][]byte) ([]byte, error) {
		imported := path.Join(path.Dir(name), target)
		b.set.imports[name] = append(b.set.imports[name], imported)
		url, err := b.add(imported)
		return slices.Concat(parts[1], []byte(relativeURL(name, url)), parts[3]), err
	})
}

var (
	cssComment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssReference = regexp.MustCompile(`(@import\s+["']|url\(\s*["']?)([^"')\s]+)(["']\s*;)?`)
)

// resolveStylesheet rewrites the references of a stylesheet, which is part of the served
// stylesheet sheet, and removes its comments, which may contain text that looks like a
// reference. It replaces an unconditional import with the imported stylesheet, which
// saves a request.
func (b *builder) resolveStylesheet(sheet, name string, css []byte) ([]byte, error) {
	leave, err := b.enter(name)
	if err != nil {
		return nil, err
	}
	defer leave()
	return replaceReferences(name, cssReference, cssComment.ReplaceAll(css, nil), func(target string, parts [][]byte) ([]byte, error) {
		if strings.HasPrefix(target, "#") || strings.HasPrefix(target, "data:") {
			return parts[0], nil
		}
		return b.replaceCSSReference(sheet, path.Join(path.Dir(name), target), parts)
	})
}

// replaceCSSReference returns the replacement for a reference to the named file. Parts
// are the submatches of cssReference.
func (b *builder) replaceCSSReference(sheet, name string, parts [][]byte) ([]byte, error) {
	if bytes.HasPrefix(parts[1], []byte("@")) && len(parts[3]) > 0 {
		css, err := b.readFile(name)
		if err != nil {
			return nil, err
		}
		b.inlined[name] = true
		return b.resolveStylesheet(sheet, name, css)
	}
	url, err := b.add(name)
	return slices.Concat(parts[1], []byte(relativeURL(sheet, url)), parts[3]), err
}

// replaceReferences replaces the matches of pattern in a file. Replace receives the
// second submatch, which is the target, and all submatches.
func replaceReferences(name string, pattern *regexp.Regexp, content []byte, replace func(target string, parts [][]byte) ([]byte, error)) ([]byte, error) {
	var errs []error
	content = pattern.ReplaceAllFunc(content, func(match []byte) []byte {
		parts := pattern.FindSubmatch(match)
		replacement, err := replace(string(parts[2]), parts)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s refers to %s: %w", name, parts[2], err))
			return match
		}
		return replacement
	})
	return content, errors.Join(errs...)
}
