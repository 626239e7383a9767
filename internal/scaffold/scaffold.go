// Package scaffold writes a small module with a photon of one's own.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed all:files
var files embed.FS

// A Module is what to write.
type Module struct {
	Name    string // of the photon, the program and the folder
	Version string // of Beam to require; empty to leave that to go mod tidy
	Source  string // the folder of Beam's source to use instead; empty for none
}

// namePattern matches names that are a photon's, a folder's and a module's.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// reserved are names that Go keeps for itself, and that of a file.
var reserved = map[string]bool{
	"break": true, "case": true, "chan": true, "const": true, "continue": true, "default": true, "defer": true, "else": true, "fallthrough": true, "for": true,
	"func": true, "go": true, "goto": true, "if": true, "import": true, "interface": true, "map": true, "package": true, "range": true, "return": true,
	"select": true, "struct": true, "switch": true, "type": true, "var": true, "main": true, "init": true, "test": true, "vendor": true, "internal": true, "testdata": true,
}

// CheckName returns an error unless a module can have the name.
func CheckName(name string) error {
	if !namePattern.MatchString(name) || reserved[name] || strings.HasSuffix(name, "_test") {
		return fmt.Errorf("%q can't name a module: use lower-case letters, digits and underscores, at most 40, begin with a letter, and use no word of Go", name)
	}
	return nil
}

// Write writes the module's files to a new folder, and returns their names. If the folder exists, or
// a file can't be written, it leaves nothing behind that wasn't there.
func (m Module) Write(folder string) (names []string, err error) {
	if err := CheckName(m.Name); err != nil {
		return nil, err
	}
	if err := os.Mkdir(folder, 0o755); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s exists already: choose another name, or another folder with --to", folder)
	} else if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(folder)
		}
	}()
	entries, err := fs.ReadDir(files, "files")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		content, err := files.ReadFile("files/" + e.Name())
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(e.Name(), ".txt")
		if strings.HasPrefix(name, "photon") {
			name = m.Name + strings.TrimPrefix(name, "photon")
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(m.fill(string(content))), 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, os.WriteFile(filepath.Join(folder, "go.mod"), []byte(m.goMod()), 0o644)
}

// fill replaces the names in a file.
func (m Module) fill(text string) string {
	title := strings.ReplaceAll(m.Name, "_", " ")
	title = strings.ToUpper(title[:1]) + title[1:]
	return strings.NewReplacer("PHOTON", m.Name, "TITLE", title).Replace(text)
}

// goMod returns the module's go.mod.
func (m Module) goMod() string {
	const beam = "github.com/photon-beam/beam"
	text := "module " + m.Name + "\n\ngo 1.26\n"
	switch {
	case m.Source != "":
		text += "\nrequire " + beam + " v0.0.0\n\nreplace " + beam + " => " + quote(m.Source) + "\n"
	case m.Version != "":
		text += "\nrequire " + beam + " " + m.Version + "\n"
	}
	return text
}

// quote quotes a path for go.mod if it must be.
func quote(path string) string {
	if strings.ContainsAny(path, " \t\"'`(),") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
	}
	return path
}
