package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// OwnFile is the name of the file in a data folder that holds the upstreams which
// `beam upstream add` adds. It has the format of all such files.
const OwnFile = "upstreams.json"

// A Definition is a server as a file has it, with references.
type Definition struct {
	Type      string            `json:"type,omitempty"`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Cwd       string            `json:"cwd,omitempty"`
	URL       string            `json:"url,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Allow     []string          `json:"allow,omitempty"`
	Deny      []string          `json:"deny,omitempty"`
	Roles     []string          `json:"roles,omitempty"`
	Record    Record            `json:"record,omitempty"`
	Sensitive Sensitive         `json:"sensitive,omitempty"`
	Parallel  Parallel          `json:"parallel,omitempty"`
	Disabled  bool              `json:"disabled,omitempty"`
}

// Errors of [Add] and [Remove].
var (
	ErrExists   = errors.New("there is a server of this name already")
	ErrNotFound = errors.New("there is no server of this name")
)

// Check returns what is wrong with a definition, apart from references to what isn't
// set on this machine now.
func Check(name string, def Definition) error {
	raw, err := json.Marshal(def)
	if err != nil {
		return err
	}
	body, err := hujson.Parse(raw)
	if err != nil {
		return err
	}
	d := newDecoder("", func(string) (string, bool) { return "", false })
	d.expander.unresolved = true
	d.decode(definition{name, body})
	return errors.Join(d.problems...)
}

// Add adds a server to a file, which it makes if there is none. It keeps the file's
// comments. The error is that of [Check], [ErrExists] unless replace is set, or the
// file's.
func Add(path, name string, def Definition, replace bool) error {
	if err := Check(name, def); err != nil {
		return err
	}
	value, err := json.Marshal(def)
	if err != nil {
		return err
	}
	return edit(path, func(root *hujson.Value, key string) error {
		if root.Find(pointer(key, name)) != nil && !replace {
			return ErrExists
		}
		return patch(root, "add", pointer(key, name), value)
	})
}

// Remove removes a server from a file. The error may be [ErrNotFound].
func Remove(path, name string) error {
	return edit(path, func(root *hujson.Value, key string) error {
		if root.Find(pointer(key, name)) == nil {
			return ErrNotFound
		}
		return patch(root, "remove", pointer(key, name), nil)
	})
}

// edit changes a file, which it writes for its owner alone.
func edit(path string, change func(root *hujson.Value, key string) error) error {
	text, err := readAtMost(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte("{}"), nil
	}
	if err != nil {
		return err
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return notJSONError(path, err)
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return fmt.Errorf("%s: %w", path, errNoObject)
	}
	key := serverKeys[0]
	if root.Find("/"+key) == nil && root.Find("/"+serverKeys[1]) != nil {
		key = serverKeys[1]
	}
	if root.Find("/"+key) == nil {
		if err := patch(&root, "add", "/"+key, []byte("{}")); err != nil {
			return err
		}
	}
	if err := change(&root, key); err != nil {
		return err
	}
	return atomicfile.Write(path, format(root))
}

// format returns the text of a file, indented.
func format(root hujson.Value) []byte {
	var b bytes.Buffer
	if root.IsStandard() && json.Indent(&b, bytes.TrimSpace(root.Pack()), "", "\t") == nil {
		b.WriteByte('\n')
		return b.Bytes()
	}
	root.Format()
	return root.Pack()
}

// patch applies one operation of JSON Patch.
func patch(root *hujson.Value, op, path string, value json.RawMessage) error {
	raw, err := json.Marshal([]struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value,omitempty"`
	}{{op, path, value}})
	if err != nil {
		return err
	}
	return root.Patch(raw)
}

// pointer returns the JSON pointer to a server.
func pointer(key, name string) string {
	return "/" + key + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// Find returns the server of a name in a file. It reports false if the file has none.
func Find(path, name string) (l Listed, ok bool, err error) {
	all, err := List(path)
	i := slices.IndexFunc(all, func(l Listed) bool { return l.Name == name })
	if i < 0 {
		return l, false, err
	}
	return all[i], true, err
}

// A Listed is a server as a file lists it, before references are resolved.
type Listed struct {
	Name string
	Definition
	Problem error // why it can't be used now; nil if it can
}

// List returns the servers of a file, including disabled ones and those that can't be
// used now. A file that doesn't exist has none.
func List(path string) (all []Listed, err error) {
	root, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	definitions, err := findDefinitions(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, def := range definitions {
		l := Listed{Name: def.name}
		d := newDecoder(path, os.LookupEnv)
		d.decode(def)
		l.Problem = errors.Join(d.problems...)
		if err := json.Unmarshal(def.body.Pack(), &l.Definition); err != nil && l.Problem == nil {
			l.Problem = err
		}
		all = append(all, l)
	}
	return all, nil
}
