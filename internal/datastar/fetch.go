package datastar

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

// A pinnedFile is a file of the module, its destination, and its required SHA-256.
type pinnedFile struct{ from, to, sha256 string }

var pinnedFiles = []pinnedFile{
	{"bundles/datastar.js", "datastar.js", "2837d87acf6ee0ba8e4e63765926c25a98d63883b02f88be194a86b81d3fd24a"},
	{"LICENSE.md", "datastar.LICENSE.md", "17da0e216d3c6a819526f5b72a6a44d84d34bcd9beb4191ac6af89c1508ef08f"},
}

// Fetch writes the bundle and its license to a folder, as datastar.js and
// datastar.LICENSE.md. It takes them from the Go module that contains them, and returns
// an error if their digests differ from the expected ones.
func Fetch(folder string) error {
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
	cmd.Dir = os.TempDir() // outside any module, so that no go.sum changes
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

// sourceMap matches the reference to a source map, which is not served.
var sourceMap = regexp.MustCompile(`(?m)^//# sourceMappingURL=.*\n?`)

// copy verifies the file and writes it atomically.
func (p pinnedFile) copy(source, folder string) error {
	content, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(p.from)))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != p.sha256 {
		return fmt.Errorf("%s of %s has the SHA-256 %x, not %s", p.from, module, sum, p.sha256)
	}
	to := filepath.Join(folder, p.to)
	temporary := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := os.WriteFile(temporary, sourceMap.ReplaceAll(content, nil), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, to)
}
