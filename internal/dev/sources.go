package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Sources are what a build depends on, wherever it is.
type sources struct {
	folders []string // of packages
	embeds  []embed
	files   []string // go.mod, go.sum and go.work
}

// An embed is a pattern of a package's go:embed directives.
type embed struct{ folder, pattern string }

func (s *sources) add(other sources) {
	s.folders = append(s.folders, other.folders...)
	s.embeds = append(s.embeds, other.embeds...)
	s.files = append(s.files, other.files...)
}

// A listedPackage is what go list says of a package.
type listedPackage struct {
	Dir           string
	EmbedPatterns []string
	Module        *struct {
		Main    bool
		GoMod   string
		Replace *struct{ Version string }
	}
}

// isLocal reports whether somebody may be changing the package: whether its module is the
// program's, one of the workspace, or replaced by a folder.
func (p *listedPackage) isLocal() bool {
	m := p.Module
	return m != nil && (m.Main || m.Replace != nil && m.Replace.Version == "")
}

// listSources asks the go command what the package in a folder depends on.
func listSources(ctx context.Context, folder string) (sources, error) {
	workspace, err := goOutput(ctx, folder, "env", "GOWORK")
	if err != nil {
		return sources{}, err
	}
	var s sources
	if file := strings.TrimSpace(string(workspace)); file != "" && file != "off" {
		s.files = append(s.files, file, file+".sum")
	}
	out, err := goOutput(ctx, folder, "list", "-e", "-deps", "-json=Dir,EmbedPatterns,Module", ".")
	if err != nil {
		return sources{}, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return s, nil
		} else if err != nil {
			return sources{}, err
		}
		if p.isLocal() {
			s.addPackage(&p)
		}
	}
}

func (s *sources) addPackage(p *listedPackage) {
	s.folders = append(s.folders, p.Dir)
	for _, pattern := range p.EmbedPatterns {
		s.embeds = append(s.embeds, embed{p.Dir, pattern})
	}
	if mod := p.Module.GoMod; mod != "" && !slices.Contains(s.files, mod) {
		s.files = append(s.files, mod, strings.TrimSuffix(mod, ".mod")+".sum")
	}
}

func goOutput(ctx context.Context, folder string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = folder
	return c.Output()
}

// addFolder adds the files of a package.
func (s *state) addFolder(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, d := range entries {
		if name := d.Name(); !d.IsDir() && (isSource(name) || isOtherSource(name)) {
			s.addEntry(filepath.Join(folder, name), d)
		}
	}
}

// isOtherSource reports whether the go command compiles or links a file that isn't Go.
func isOtherSource(name string) bool {
	switch filepath.Ext(name) {
	case ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".s", ".S", ".syso":
		return true
	}
	return false
}

// addEmbedded adds the files that a pattern matches, and those below the folders that it
// matches, also hidden ones if the pattern begins with "all:".
func (s *state) addEmbedded(e embed) {
	pattern, all := strings.CutPrefix(e.pattern, "all:")
	matches, _ := filepath.Glob(filepath.Join(globEscape(e.folder), filepath.FromSlash(pattern))) // go build reports a bad pattern
	for _, match := range matches {
		_ = filepath.WalkDir(match, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil: // it may have been removed meanwhile
			case path != match && !all && strings.ContainsAny(d.Name()[:1], "._"):
				if d.IsDir() {
					return fs.SkipDir
				}
			case !d.IsDir():
				s.addEntry(path, d)
			}
			return nil
		})
	}
}

// globEscape returns a pattern that matches only a path.
func globEscape(path string) string {
	if filepath.Separator == '\\' {
		return path // Glob has no escapes there
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func (s *state) addFile(path string) {
	if info, err := os.Stat(path); err == nil {
		s.files[path] = version{info.ModTime(), info.Size()}
	}
}
