package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// Bounds of what files may hold.
const (
	maxFile    = 1 << 20
	maxServers = 256
)

// Load returns the servers that files define, in the order of the files. Servers
// that a file disables are left out. A name that two of them have is an error, and
// every error names the file and the server; all errors are returned at once,
// joined.
func Load(paths ...string) ([]Server, error) {
	all, err := LoadValid(paths...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// LoadValid is like [Load], but with an error it returns the servers that are valid.
func LoadValid(paths ...string) (all []Server, err error) {
	var problems []error
	definedIn := make(map[string]string) // by server
	for _, path := range paths {
		servers, err := loadFile(path, os.LookupEnv)
		problems = append(problems, err)
		for _, s := range servers {
			if first, taken := definedIn[s.Name]; taken {
				problems = append(problems, fmt.Errorf("%s: server %q: %s defines a server of this name too: rename or remove one of them", path, s.Name, first))
				continue
			}
			definedIn[s.Name] = path
			all = append(all, s)
		}
	}
	if len(all) > maxServers {
		problems = append(problems, fmt.Errorf("there are %d servers; at most %d can be used", len(all), maxServers))
		all = all[:maxServers]
	}
	return all, errors.Join(problems...)
}

// loadFile returns the enabled servers of one file.
func loadFile(path string, lookup func(string) (string, bool)) ([]Server, error) {
	root, err := readFile(path)
	if err != nil {
		return nil, err
	}
	definitions, err := findDefinitions(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var servers []Server
	var problems []error
	for _, def := range definitions {
		d := newDecoder(path, lookup)
		d.decode(def)
		if d.disabled {
			continue
		}
		problems = append(problems, d.problems...)
		if len(d.problems) == 0 {
			servers = append(servers, d.server)
		}
	}
	return servers, errors.Join(problems...)
}

// readFile reads and parses a file. Comments and trailing commas are allowed, as
// editors allow them in such files.
func readFile(path string) (hujson.Value, error) {
	text, err := readAtMost(path, maxFile)
	if err != nil {
		return hujson.Value{}, err
	}
	root, err := hujson.Parse(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return hujson.Value{}, notJSONError(path, err)
	}
	root.Standardize()
	return root, nil
}

// notJSONError returns the error for a file that hujson can't parse.
func notJSONError(path string, err error) error {
	return fmt.Errorf("%s: this is not JSON: %s", path, strings.TrimPrefix(err.Error(), "hujson: "))
}

// readAtMost reads a regular file of at most limit bytes.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is a folder, not a file", path))
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return text, err
}

// A definition is one server as a file has it.
type definition struct {
	name string
	body hujson.Value
}

// serverKeys are the fields of a file that hold its servers by name: most
// clients', and Visual Studio Code's.
var serverKeys = []string{"mcpServers", "servers"}

var errNoObject = errors.New(`the file must hold an object: {"mcpServers": {…}}`)

// findDefinitions returns the definitions in a file, in the file's order.
func findDefinitions(root hujson.Value) (all []definition, err error) {
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errNoObject
	}
	found := false
	for _, key := range serverKeys {
		for value := range members(top, key) {
			found = true
			servers, ok := value.Value.(*hujson.Object)
			if !ok {
				return nil, fmt.Errorf(`%s must be an object of servers by name: {"NAME": {"command": …}}`, key)
			}
			for _, m := range servers.Members {
				all = append(all, definition{nameOf(m), m.Value})
			}
		}
	}
	if !found {
		return nil, errors.New(`the file has neither "mcpServers" nor "servers", which MCP clients name their servers in`)
	}
	return all, nil
}

// members yields the values of the fields of that name.
func members(o *hujson.Object, name string) func(yield func(hujson.Value) bool) {
	return func(yield func(hujson.Value) bool) {
		for _, m := range o.Members {
			if nameOf(m) == name && !yield(m.Value) {
				return
			}
		}
	}
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// folderOf returns the folder of a file, as an absolute path.
func folderOf(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return filepath.Dir(path)
	}
	return filepath.Dir(absolute)
}
