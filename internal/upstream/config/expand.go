package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// An expander replaces references in the strings of a file.
type expander struct {
	folder  string // of the file
	lookup  func(string) (string, bool)
	secrets []string // what references stood for
	// unresolved checks references without resolving them: each stands for itself.
	unresolved bool
}

var variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces the references in text: ${VAR} and ${env:VAR} stand for an
// environment variable, ${VAR:-default} for the default if the variable is unset
// or empty, ${file:PATH} for the content of a file that only its owner can read,
// without the line feed at its end. $${ is written for ${ itself. An error names
// the reference and never a value.
func (e *expander) expand(text string) (string, error) {
	var expanded strings.Builder
	var problems []error
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			expanded.WriteString(text)
			break
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			expanded.WriteString(escaped + "${")
			text = rest
			continue
		}
		reference, after, closed := strings.Cut(rest, "}")
		if !closed {
			problems = append(problems, errors.New("a ${ has no }: write $${ for the characters ${"))
			break
		}
		value, err := e.resolve(reference)
		problems = append(problems, err)
		expanded.WriteString(before + value)
		text = after
	}
	return expanded.String(), errors.Join(problems...)
}

// resolve returns what a reference stands for.
func (e *expander) resolve(reference string) (string, error) {
	prefix, rest, _ := strings.Cut(reference, ":")
	switch {
	case e.unresolved && (prefix == "file" && rest != "" || variablePattern.MatchString(strings.TrimPrefix(reference, "env:"))):
		return "unresolved", nil
	case prefix == "file":
		return e.readSecret(rest)
	case prefix == "env":
		return e.variable(rest)
	case prefix == "input":
		return "", fmt.Errorf("${%s} is a question that an editor asks; Beam takes the value from an environment variable, as in ${API_KEY}, or a file, as in ${file:PATH}", reference)
	case reference == "userHome":
		return os.UserHomeDir()
	case reference == "workspaceFolder":
		return workspaceOf(e.folder), nil
	case reference == "pathSeparator", reference == "/":
		return string(filepath.Separator), nil
	}
	return e.variable(reference)
}

// variable returns the value of NAME or NAME:-default.
func (e *expander) variable(reference string) (string, error) {
	name, fallback, hasDefault := strings.Cut(reference, ":-")
	if !variablePattern.MatchString(name) {
		return "", fmt.Errorf("${%s} is no reference that Beam knows: it knows ${VAR}, ${VAR:-default}, ${env:VAR} and ${file:PATH}", reference)
	}
	value, set := e.lookup(name)
	switch {
	case hasDefault && value == "":
		return fallback, nil
	case !set:
		return "", fmt.Errorf("the environment variable %s is not set: set it before Beam starts, or write ${%s:-default}", name, name)
	}
	e.addSecret(value)
	return value, nil
}

// maxSecretFile bounds a file with a secret.
const maxSecretFile = 64 << 10

// readSecret returns the content of a file that only its owner can read. A relative
// path is relative to the configuration's folder, and ~ is the home folder.
func (e *expander) readSecret(path string) (string, error) {
	if path == "" {
		return "", errors.New("${file:} names no file: write ${file:PATH}")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(e.folder, path)
	}
	if err := checkPrivate(path); err != nil {
		return "", err
	}
	content, err := readAtMost(path, maxSecretFile)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(content), "\r\n")
	e.addSecret(secret)
	return secret, nil
}

// minSecret is the length below which a value isn't masked: a port or "true" would
// be masked everywhere.
const minSecret = 6

func (e *expander) addSecret(value string) {
	if len(value) >= minSecret {
		e.secrets = append(e.secrets, value)
	}
}

// workspaceOf returns the folder that an editor would have open: the one that
// contains .vscode or .cursor.
func workspaceOf(folder string) string {
	switch filepath.Base(folder) {
	case ".vscode", ".cursor":
		return filepath.Dir(folder)
	}
	return folder
}
