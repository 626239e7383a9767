// Package release tests what scripts/release makes.
package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

const (
	beam    = "github.com/photon-beam/beam"
	version = "v0.9.0-test.1"
)

// A release has a program that runs and knows its version, npm packages and an image with it, all
// the same from the same commit, and a tag at which the module has the Datastar bundle.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds Beam twice")
	}
	source := cloneWorkingTree(t)
	release(t, source)

	program := filepath.Join(source, "dist", "beam-"+version+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if got := command(t, source, nil, program, "--version"); got != strings.TrimSuffix(filepath.Base(program), ".exe")+" "+version+"\n" {
		t.Errorf("the program's version is %q", got)
	}
	sums := readFile(t, source, "dist", "SHA256SUMS")
	if want := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(readFile(t, program))), filepath.Base(program)); !strings.Contains(sums, want) {
		t.Errorf("SHA256SUMS is %q, without %q", sums, want)
	}
	if changes := command(t, source, nil, "git", "status", "--porcelain"); changes != "" {
		t.Errorf("the working tree has changes:\n%s", changes)
	}

	again := filepath.Join(t.TempDir(), "again")
	command(t, source, nil, "git", "clone", "-q", "--no-tags", ".", again)
	release(t, again)
	if got := readFile(t, again, "dist", "SHA256SUMS"); got != sums {
		t.Errorf("the second build differs:\n%s\n%s", got, sums)
	}
	if a, b := tagged(t, source), tagged(t, again); a != b {
		t.Errorf("the second tag is %s, want %s", b, a)
	}

	t.Run("npm", func(t *testing.T) { checkNPM(t, filepath.Join(source, "dist")) })
	t.Run("image", func(t *testing.T) { checkImage(t, filepath.Join(source, "dist"), program) })
	expectFullPage(t, buildDependant(t, downloadModule(t, source)))
}

func release(t *testing.T, source string) {
	t.Helper()
	command(t, source, nil, "scripts/release", version, runtime.GOOS+"/"+runtime.GOARCH)
}

func tagged(t *testing.T, source string) string {
	t.Helper()
	return command(t, source, nil, "git", "rev-parse", version)
}

// cloneWorkingTree returns a repository whose last commit is the working tree that is
// tested.
func cloneWorkingTree(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("a release is made of a Git repository")
	}
	clone := filepath.Join(t.TempDir(), "beam")
	command(t, root, nil, "git", "clone", "-q", "--no-tags", ".", clone)
	command(t, clone, nil, "git", "rm", "-rq", ".")
	for name := range strings.SplitSeq(command(t, root, nil, "git", "ls-files", "-coz", "--exclude-standard", "--deduplicate"), "\x00") {
		copyFile(t, filepath.Join(root, name), filepath.Join(clone, name))
	}
	command(t, clone, nil, "git", "add", "-A")
	command(t, clone, nil, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "--allow-empty", "-m", "The working tree")
	return clone
}

// copyFile copies a file, unless it is a folder or was deleted.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil || info.IsDir() {
		return
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(readFile(t, from)), info.Mode()); err != nil {
		t.Fatal(err)
	}
}

// downloadModule returns the folder of the module as the go command downloads it for
// the tag.
func downloadModule(t *testing.T, source string) string {
	t.Helper()
	out := command(t, t.TempDir(), []string{
		"GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw", "GOPRIVATE=" + beam, "GOWORK=off", "GIT_ALLOW_PROTOCOL=file",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://" + filepath.ToSlash(source) + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + beam,
	}, "go", "mod", "download", "-json", beam+"@"+version)
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir
}

// buildDependant builds a program in a module that depends on the one in a folder.
func buildDependant(t *testing.T, beamFolder string) string {
	t.Helper()
	folder := t.TempDir()
	goLine := strings.Split(readFile(t, beamFolder, "go.mod"), "\n")[2]
	writeFile(t, filepath.Join(folder, "go.mod"), "module example.com/hello\n\n"+goLine+"\n\nrequire "+beam+" "+version+"\n\nreplace "+beam+" => "+beamFolder+"\n")
	writeFile(t, filepath.Join(folder, "go.sum"), readFile(t, beamFolder, "go.sum"))
	writeFile(t, filepath.Join(folder, "main.go"), readFile(t, beamFolder, "examples", "hello", "main.go"))
	program := filepath.Join(folder, "hello")
	command(t, folder, []string{"GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0"}, "go", "build", "-o", program, ".")
	return program
}

// expectFullPage starts a program and expects its pages to load the Datastar bundle.
func expectFullPage(t *testing.T, program string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	console := programtest.NewConsole()
	cmd := exec.CommandContext(ctx, program, "serve", "--memory", "--addr", "127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = console, console
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	url, err := console.WaitForBaseURL(ctx)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var page bytes.Buffer
	page.ReadFrom(response.Body)
	if !strings.Contains(page.String(), "/static/vendor/datastar.") {
		t.Errorf("the page doesn't load Datastar:\n%s", page.String())
	}
}

// command runs a command in a folder and returns what it prints to standard output.
func command(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, out, stderr.Bytes())
	}
	return string(out)
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
