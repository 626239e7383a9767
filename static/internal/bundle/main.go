// Command bundle puts the Datastar bundle, and its licence, into a folder.
//
//	bundle FOLDER
//
// It takes them out of the Go module that carries them, at the one version
// that Beam's pages are written for, and refuses files with other digests.
// `go generate ./static` runs it.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

const module = "github.com/starfederation/datastar@v1.0.2"

// A pinnedFile is a file of the module, where it goes, and the SHA-256 that it must have.
type pinnedFile struct{ from, to, sha256 string }

var pinnedFiles = []pinnedFile{
	{"bundles/datastar.js", "datastar.js", "2837d87acf6ee0ba8e4e63765926c25a98d63883b02f88be194a86b81d3fd24a"},
	{"LICENSE.md", "datastar.LICENSE.md", "17da0e216d3c6a819526f5b72a6a44d84d34bcd9beb4191ac6af89c1508ef08f"},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bundle FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	source, err := download()
	if err != nil {
		return err
	}
	for _, p := range pinnedFiles {
		if err := p.copy(source, folder); err != nil {
			return err
		}
	}
	return nil
}

// download returns the module's folder in the module cache.
func download() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // outside of any module, so that no go.sum changes
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &answer); jsonErr == nil && answer.Error != "" {
		return "", errors.New(answer.Error)
	} else if err != nil {
		return "", fmt.Errorf("%v: %w", cmd, err)
	} else if jsonErr != nil {
		return "", fmt.Errorf("%v: %w", cmd, jsonErr)
	}
	return answer.Dir, nil
}

// sourceMap is dropped, since the map it names is not served.
var sourceMap = regexp.MustCompile(`(?m)^//# sourceMappingURL=.*\n?`)

// copy checks the file and puts it in its place whole or not at all.
func (p pinnedFile) copy(source, folder string) error {
	content, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(p.from)))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != p.sha256 {
		return fmt.Errorf("%s of %s has the SHA-256 %x, not %s", p.from, module, sum, p.sha256)
	}
	to := filepath.Join(folder, p.to)
	half := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := os.WriteFile(half, sourceMap.ReplaceAll(content, nil), 0o644); err != nil {
		return err
	}
	return os.Rename(half, to)
}
