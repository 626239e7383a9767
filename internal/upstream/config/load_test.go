package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// writeFile writes a file into a new folder and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The file that most clients use, with everything that Beam adds to it.
func TestLoad(t *testing.T) {
	t.Setenv("TOKEN", "s3cret-token")
	path := writeFile(t, "mcp.json", `{
		// As editors allow.
		"mcpServers": {
			"files": {"command": "npx", "args": ["-y", "server-filesystem", "${HOME_DIR:-/srv}"], "cwd": "work",
				"env": {"API_KEY": "${env:TOKEN}", "PORT": 8080, "NONE": null, "PRICE": "$${5}"}},
			"web": {"type": "streamable-http", "url": "https://mcp.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"},
				"allow": ["get_*"], "deny": ["get_all"], "roles": ["finance"], "record": "metadata", "sensitive": "warn", "parallel": "never",
				"limits": {"calls": 2, "callsPerMinute": 60, "callTimeout": "90s", "asks": 3, "tools": 50},
				"autoApprove": ["get_*"]},
			"off": {"command": "x", "disabled": true},
		},
		"inputs": []
	}`)
	got, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Server{{
		File: path,
		Target: client.Target{
			Name: "files", Type: config.Stdio, Command: "npx", Args: []string{"-y", "server-filesystem", "/srv"},
			Env: map[string]string{"API_KEY": "s3cret-token", "PORT": "8080", "PRICE": "${5}"}, Cwd: filepath.Join(filepath.Dir(path), "work"),
		},
		Policy:  config.Policy{Record: config.RecordAll, Sensitive: config.RefuseSensitive, Parallel: config.ParallelShared},
		Secrets: []string{"s3cret-token"},
	}, {
		File:   path,
		Target: client.Target{Name: "web", Type: config.HTTP, URL: "https://mcp.example/mcp", Headers: map[string]string{"Authorization": "Bearer s3cret-token"}},
		Policy: config.Policy{Allow: []string{"get_*"}, Deny: []string{"get_all"}, Roles: []string{"finance"}, Record: config.RecordMetadata, Sensitive: config.WarnSensitive, Parallel: config.ParallelNever,
			Limits: config.Limits{Calls: 2, CallsPerMinute: 60, CallTimeout: 90 * time.Second, Asks: 3, Tools: 50}},
		Ignored: []string{"autoApprove"},
		Secrets: []string{"s3cret-token"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("loaded\n%#v\nwant\n%#v", dump(got), dump(want))
	}
}

// dump shows the fields of servers, which format as their names alone.
func dump(servers []config.Server) (all []any) {
	type address client.Target
	for _, s := range servers {
		all = append(all, address(s.Target), s.File, s.Policy, s.Ignored, s.Warnings, s.Secrets)
	}
	return all
}

// Visual Studio Code's file.
func TestLoadServersOfEditors(t *testing.T) {
	path := writeFile(t, ".vscode/mcp.json", `{"servers": {"a": {"type": "sse", "url": "http://localhost/sse"}, "b": {"type": "stdio", "command": "${workspaceFolder}${/}b"}}}`)
	got, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Type != config.SSE || got[1].Command != filepath.Join(filepath.Dir(filepath.Dir(path)), "b") {
		t.Errorf("loaded %v", dump(got))
	}
}

// All that is wrong is told at once, with its file, server and field, and without
// any value.
func TestLoadTellsEveryError(t *testing.T) {
	t.Setenv("TOKEN", "s3cret\ntoken")
	secret := writeFile(t, "secret", "hidden")
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	first := writeFile(t, "first.json", `{"mcpServers": {
		"a b": {"command": "x"},
		"a__b": {"command": "x"},
		"both": {"command": "x", "url": "https://x.example"},
		"none": {},
		"unset": {"command": "x", "env": {"KEY": "${NOT_SET_ANYWHERE}"}},
		"nul": {"command": "x", "env": {"KEY": "s3cret\u0000"}},
		"line": {"url": "https://x.example", "headers": {"X-Key": "${TOKEN}"}},
		"open": {"command": "x", "args": ["${file:`+secret+`}"]},
		"input": {"url": "https://x.example", "headers": {"Authorization": "Bearer ${input:key}"}},
		"type": {"command": "x", "type": "http"},
		"user": {"url": "https://u:p4ssword@x.example"},
		"header": {"url": "https://x.example", "headers": {"Mcp-Session-Id": "1"}},
		"policy": {"command": "x", "record": "some", "sensitive": "no", "parallel": "yes", "allow": [], "limits": {"calls": 0, "call": 1, "callTimeout": "soon"}},
		"text": {"command": 5},
		"twice": {"command": "x", "command": "y"},
		"list": []
	}}`)
	second := writeFile(t, "second.json", `{"mcpServers": {"ok": {"command": "x"}}}`)
	third := writeFile(t, "third.json", `{"mcpServers": {"ok": {"command": "x"}}}`)
	_, err := config.Load(first, second, third, filepath.Join(t.TempDir(), "missing.json"), writeFile(t, "broken.json", "{\n,}"), writeFile(t, "other.json", "{}"))
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	for _, want := range []string{
		first + `: server "a b": a server's name has`,
		first + `: server "a__b": a server's name has`,
		`server "both": has both a command and a url`,
		`server "none": has neither a command nor a url`,
		`server "unset": env KEY: the environment variable NOT_SET_ANYWHERE is not set`,
		`server "nul": env: "KEY" can't be a variable`,
		`server "line": headers X-Key: the value has characters`,
		`server "open": args[0]: others can read or change the file ` + secret,
		`server "input": headers Authorization: ${input:key} is a question that an editor asks`,
		`server "type": type: must be stdio here, not "http"`,
		`server "user": url: has a user name or password`,
		`server "header": headers: Beam sets Mcp-Session-Id itself`,
		`server "policy": allow: the list is empty`,
		`server "policy": record: must be nothing, metadata or all, not "some"`,
		`server "policy": sensitive: must be refuse, warn or allow, not "no"`,
		`server "policy": parallel: must be shared, separate or never, not "yes"`,
		`server "policy": limits call: there is no such limit`,
		`server "policy": limits calls: must be at least 1`,
		`server "policy": limits callTimeout: must be a time such as "90s"`,
		`server "text": command: must be a string`,
		`server "twice": command: the field is there twice`,
		`server "list": must be an object`,
		third + `: server "ok": ` + second + ` defines a server of this name too`,
		"missing.json: no such file",
		"broken.json: this is not JSON: line 2, column 1",
		`other.json: the file has neither "mcpServers" nor "servers"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the error lacks %q", want)
		}
	}
	for _, secret := range []string{"s3cret", "hidden", "p4ssword"} {
		if strings.Contains(text, secret) {
			t.Errorf("the error holds %q", secret)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A file is read as a secret if it is its owner's alone.
func TestLoadSecretFile(t *testing.T) {
	path := writeFile(t, "mcp.json", `{"mcpServers": {"a": {"command": "x", "env": {"KEY": "${file:key}"}}}}`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "key"), []byte("s3cret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := config.Load(path)
	if err != nil || got[0].Env["KEY"] != "s3cret" {
		t.Errorf("loaded %v, %v", dump(got), err)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "a/b", true}, {"get_*", "get_", true}, {"get_*", "forget_x", false},
		{"*_all", "get_all", true}, {"*_all", "get_all_", false}, {"a*b*c", "aXbYbc", true}, {"a*b*c", "aXbY", false},
		{"?et", "get", true}, {"?et", "et", false}, {"", "", true}, {"", "a", false}, {"*a", "aa", true},
	} {
		if got := config.Match(c.pattern, c.name); got != c.want {
			t.Errorf("Match(%q, %q) is %v", c.pattern, c.name, got)
		}
	}
}
