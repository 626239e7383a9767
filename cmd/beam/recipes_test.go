package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// readRecipe returns a file of docs/recipes with replacements.
func readRecipe(t *testing.T, name string, replacements ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../docs/recipes", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(replacements...).Replace(string(raw))
}

// startCaddy returns the command that runs Caddy with a recipe.
func startCaddy(t *testing.T, recipe, dir, proxy, beam string) *exec.Cmd {
	config := "{\n\tadmin off\n}\n" + readRecipe(t, recipe, "tools.example", "http://"+proxy, "beam.example", "http://"+proxy, "127.0.0.1:3008", beam)
	writeFile(t, filepath.Join(dir, "Caddyfile"), config)
	return exec.Command("caddy", "run", "--config", filepath.Join(dir, "Caddyfile"), "--adapter", "caddyfile")
}

// startNginx is startCaddy for nginx.
func startNginx(t *testing.T, recipe, dir, proxy, beam string) *exec.Cmd {
	server := readRecipe(t, recipe, "listen 443 ssl", "listen "+proxy, "    ssl_certificate ", "    # ", "    ssl_certificate_key ", "    # ", "127.0.0.1:3008", beam)
	writeFile(t, filepath.Join(dir, "nginx.conf"), "daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+
		"client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"+server+"}\n")
	return exec.Command("nginx", "-p", dir, "-c", "nginx.conf", "-e", "stderr")
}

// TestProxyRecipes runs the proxies with their recipes, in the clear and on free ports.
func TestProxyRecipes(t *testing.T) {
	for _, recipe := range []string{"Caddyfile", "Caddyfile.removed", "Caddyfile.host", "nginx.conf", "nginx.removed.conf", "nginx.host.conf"} {
		name, start, path := "caddy", startCaddy, "/beam"
		if strings.HasPrefix(recipe, "nginx") {
			name, start = "nginx", startNginx
		}
		if strings.Contains(recipe, "host") {
			path = ""
		}
		t.Run(recipe, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(name, "is not installed")
			}
			ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
			defer cancel()
			dir, proxy := t.TempDir(), programtest.FreeAddress(t)
			console := programtest.NewConsole()
			startProgram(t, func(c *exec.Cmd) { c.Stdout = console }, "beam", "serve", "--memory", "--addr", "127.0.0.1:0", "--token", "a token of the tests", "--url", "http://"+proxy+path)
			listens, err := console.WaitForBaseURL(ctx)
			if err != nil {
				t.Fatal(err)
			}
			upstream := strings.TrimSuffix(strings.TrimPrefix(listens, "http://"), path)
			cmd := start(t, recipe, dir, proxy, upstream)
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			output := programtest.NewConsole()
			cmd.Stdout, cmd.Stderr = output, output
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmd.WaitDelay = programtest.WaitTimeout // its children may have its output
			t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
			get := func(path string) (status int, body string) {
				responds := func() bool {
					r, err := http.DefaultClient.Do(withHeader(must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+proxy+path, nil)), "Authorization", "Bearer a token of the tests"))
					if err != nil {
						return false
					}
					defer r.Body.Close()
					raw, _ := io.ReadAll(r.Body)
					status, body = r.StatusCode, string(raw)
					return true
				}
				if !programtest.Poll(responds) {
					t.Fatalf("the proxy doesn't respond\n%s", output)
				}
				return status, body
			}
			if status, body := get("/"); path != "" && (status != http.StatusOK || body != "the site's own page") {
				t.Errorf("the site's page is %d %s", status, body)
			}
			if status, body := get(path + "/runs"); status != http.StatusOK {
				t.Errorf("the runs are %d %s\n%s", status, body, output)
			}
			if status, body := get("/.well-known/oauth-protected-resource" + path + "/mcp"); body == "the site's own page" || status == http.StatusForbidden {
				t.Errorf("the metadata of the resource is %d %s", status, body)
			}
		})
	}
}

// TestUnitRecipe has systemd check the unit.
func TestUnitRecipe(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	unit := filepath.Join(t.TempDir(), "beam.service")
	writeFile(t, unit, readRecipe(t, "beam.service", "/usr/local/bin/beam", "/bin/true"))
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput()
	if err != nil || strings.Contains(string(out), "beam.service:") {
		t.Errorf("the unit: %v\n%s", err, out)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
