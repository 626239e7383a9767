package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/upstream/config"
)

func TestAddAndRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), config.OwnFile)
	if all, err := config.List(path); len(all) > 0 || err != nil {
		t.Errorf("without a file: %v, %v", all, err)
	}
	add := func(name string, replace bool, want error) {
		t.Helper()
		d := config.Definition{Command: "npx", Args: []string{"-y", "<server>"}, Env: map[string]string{"KEY": "${NOT_SET_ANYWHERE}"}, Allow: []string{"get_*"}}
		if err := config.Add(path, name, d, replace); !errors.Is(err, want) {
			t.Errorf("adding %s: %v", name, err)
		}
	}
	add("a", false, nil)
	add("a", false, config.ErrExists)
	add("a", true, nil)
	add("b", false, nil)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("// By hand.\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := config.Remove(path, "a"); err != nil {
		t.Error(err)
	}
	if err := config.Remove(path, "a"); !errors.Is(err, config.ErrNotFound) {
		t.Errorf("removing it twice: %v", err)
	}
	if text, _ = os.ReadFile(path); !strings.HasPrefix(string(text), "// By hand.\n") || !strings.Contains(string(text), "${NOT_SET_ANYWHERE}") {
		t.Errorf("the file is\n%s", text)
	}
	all, err := config.List(path)
	if err != nil || len(all) != 1 || all[0].Name != "b" || all[0].Args[1] != "<server>" || all[0].Problem == nil {
		t.Errorf("listed %+v, %v", all, err)
	}
	if _, err := config.Load(path); err == nil || !strings.Contains(err.Error(), "NOT_SET_ANYWHERE is not set") {
		t.Errorf("loading it: %v", err)
	}
}

// A file of Visual Studio Code is edited under its own key.
func TestAddToServers(t *testing.T) {
	path := writeFile(t, "mcp.json", `{"inputs": [], "servers": {"a": {"command": "a"}}}`)
	if err := config.Add(path, "b", config.Definition{URL: "https://b.example/mcp"}, false); err != nil {
		t.Fatal(err)
	}
	got, err := config.Load(path)
	if err != nil || len(got) != 2 || got[1].URL != "https://b.example/mcp" {
		t.Errorf("loaded %v, %v", dump(got), err)
	}
}

func TestAddRefusesWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), config.OwnFile)
	for want, d := range map[string]config.Definition{
		`server "a": has neither a command nor a url`: {},
		`server "a": url: must be the http or https`:  {URL: "mcp.example"},
		`server "a": headers: "a b" can't be`:         {URL: "https://${HOST}/mcp", Headers: map[string]string{"a b": ""}},
		`server "a": env K: ${a b} is no reference`:   {Command: "x", Env: map[string]string{"K": "${a b}"}},
		`server "a": env K: ${input:x} is a question`: {Command: "x", Env: map[string]string{"K": "${input:x}"}},
		`server "a": record: must be nothing`:         {Command: "x", Record: "some"},
	} {
		if err := config.Add(path, "a", d, false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if err := config.Add(path, "a/b", config.Definition{Command: "x"}, false); err == nil {
		t.Error("a name with a slash was added")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file exists: %v", err)
	}
	if err := config.Add(path, "a", config.Definition{URL: "https://${HOST}/mcp", Headers: map[string]string{"K": "Bearer ${file:/run/key} ${env:X} ${Y:-z}"}}, false); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"[]", "{", `{"mcpServers": 5}`} {
		if err := config.Add(writeFile(t, "x.json", text), "a", config.Definition{Command: "x"}, false); err == nil {
			t.Errorf("added to %s", text)
		}
	}
}

// One server that can't be used doesn't take the others with it, once Beam runs; and
// a disabled one is in nobody's way.
func TestLoadValid(t *testing.T) {
	path := writeFile(t, "mcp.json", `{"mcpServers": {"a": {"command": "a"}, "b": {}, "c": {"url": "c", "disabled": true}}}`)
	got, err := config.LoadValid(path)
	if len(got) != 1 || got[0].Name != "a" || err == nil || strings.Contains(err.Error(), `"c"`) {
		t.Errorf("loaded %v, %v", dump(got), err)
	}
}
