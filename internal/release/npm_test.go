package release

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// checkNPM installs the packages in a folder without a network, and speaks MCP with the command;
// then without an installation, from a registry of its own.
func checkNPM(t *testing.T, dist string) {
	t.Helper()
	packages, err := filepath.Glob(filepath.Join(dist, "*.tgz"))
	if err != nil || len(packages) != 2 {
		t.Fatalf("the packages are %v, %v", packages, err)
	}
	withNode, err := filepath.Abs("../../scripts/with-node")
	if err != nil {
		t.Fatal(err)
	}
	command(t, ".", nil, withNode, "true") // installs Node if it has to
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "package.json"), "{}")
	env := []string{"npm_config_cache=" + t.TempDir(), "npm_config_offline=true", "npm_config_update_notifier=false", "npm_config_fund=false", "npm_config_audit=false"}
	command(t, folder, env, withNode, append([]string{"npm", "install"}, packages...)...)

	npx := []string{"npx", "-y", "@photon-beam/beam"}
	if got := command(t, folder, env, withNode, append(npx, "--version")...); got != "beam "+version+"\n" {
		t.Errorf("the version is %q", got)
	}
	initializeOverStdio(t, folder, env, withNode, append(npx, "stdio", "--memory")...)
	expectStatus(t, folder, env, 2, withNode, append(npx, "--unknown")...)

	// Without an installation, npx fetches the packages from the registry.
	env = append(env, "npm_config_cache="+t.TempDir(), "npm_config_offline=false", "npm_config_registry="+serveRegistry(t, packages))
	initializeOverStdio(t, t.TempDir(), env, withNode, append(npx, "stdio", "--memory")...)
}

// serveRegistry serves packages as the npm registry does, and returns its address.
func serveRegistry(t *testing.T, packages []string) string {
	t.Helper()
	content := make(map[string][]byte) // by path
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, ok := content[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(found)
	}))
	t.Cleanup(server.Close)
	for _, file := range packages {
		packed := []byte(readFile(t, file))
		manifest := readManifest(t, packed)
		sum := sha512.Sum512(packed)
		tarball := "/" + filepath.Base(file)
		manifest["dist"] = map[string]string{"tarball": server.URL + tarball, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		name, number := manifest["name"].(string), manifest["version"].(string)
		document, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": number}, "versions": map[string]any{number: manifest}})
		if err != nil {
			t.Fatal(err)
		}
		content["/"+name], content[tarball] = document, packed
	}
	return server.URL
}

// readManifest returns the package.json of a package, its first file.
func readManifest(t *testing.T, packed []byte) (manifest map[string]any) {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(plain)
	if h, err := archive.Next(); err != nil || h.Name != "package/package.json" {
		t.Fatalf("the first file is %+v, %v", h, err)
	}
	if err := json.NewDecoder(archive).Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	return manifest
}

// initializeOverStdio starts an MCP server, which must respond to initialize with its version,
// and end when its input does.
func initializeOverStdio(t *testing.T, folder string, env []string, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server := exec.CommandContext(ctx, name, args...)
	server.Dir, server.Env, server.Stderr = folder, append(os.Environ(), env...), os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var response struct {
		Result struct {
			ProtocolVersion string
			ServerInfo      struct{ Version string }
		}
	}
	if err := json.Unmarshal(line, &response); err != nil || response.Result.ProtocolVersion != "2025-11-25" || response.Result.ServerInfo.Version != version {
		t.Errorf("initialize responds with %s, %v", line, err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("after the end of its input, the server ended with %v", err)
	}
}

// expectStatus runs a command that ends with a status.
func expectStatus(t *testing.T, folder string, env []string, want int, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%s ends with status %d, want %d:\n%s", strings.Join(args, " "), got, want, out)
	}
}
