package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/photon-beam/beam/internal/humanize"
)

// example is a file of models, for error messages.
const example = `{"models": [{"name": "llama", "endpoint": "http://127.0.0.1:11434/v1", "model": "llama3.2"}]}`

// A decoder decodes the text of a file of models. Its errors name the line.
type decoder struct{ text []byte }

// decode returns the models of a file, with the line of each, unchecked. Comments and
// trailing commas are allowed, as in the files that name MCP servers.
func decode(text []byte) (list []*Model, lines []int, err error) {
	d := decoder{bytes.TrimPrefix(text, []byte("\ufeff"))}
	if len(bytes.TrimSpace(d.text)) == 0 {
		return nil, nil, errors.New("it is empty; it must be an object such as " + example)
	}
	root, err := hujson.Parse(d.text)
	if err != nil {
		return nil, nil, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	root.Standardize()
	values, err := d.modelsOf(root)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range values {
		m, err := d.model(i+1, v)
		if err != nil {
			return nil, nil, err
		}
		list, lines = append(list, m), append(lines, d.line(v))
	}
	return list, lines, nil
}

func (d *decoder) line(v hujson.Value) int {
	return 1 + bytes.Count(d.text[:min(v.StartOffset, len(d.text))], []byte("\n"))
}

func (d *decoder) errorf(at hujson.Value, format string, args ...any) error {
	return placeError(d.line(at), fmt.Errorf(format, args...))
}

func placeError(line int, err error) error { return fmt.Errorf("line %d: %w", line, err) }

// modelsOf returns the values in the list of models.
func (d *decoder) modelsOf(root hujson.Value) ([]hujson.Value, error) {
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, d.errorf(root, "the file must be an object such as %s", example)
	}
	var values []hujson.Value
	for _, m := range object.Members {
		if name := nameOf(m); name != "models" {
			return nil, d.errorf(m.Name, "there is no member %q; the file has only \"models\", as in %s", name, example)
		}
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			return nil, d.errorf(m.Value, `"models" must be a list, as in %s`, example)
		}
		values = append(values, list.Elements...)
	}
	if len(values) == 0 || len(values) > maxModels {
		return nil, fmt.Errorf("there must be 1 to %d models, as in %s", maxModels, example)
	}
	return values, nil
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// keyMembers are what people call the key where it is a member of the file.
var keyMembers = []string{"key", "apiKey", "api_key", "token", "authorization"}

// model decodes one model.
func (d *decoder) model(number int, v hujson.Value) (*Model, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, d.errorf(v, "model %d must be an object, as in %s", number, example)
	}
	m := &Model{}
	members := m.members()
	seen := make(map[string]bool)
	for _, at := range object.Members {
		name := nameOf(at)
		member, known := members[name]
		switch {
		case slices.Contains(keyMembers, name):
			return nil, d.errorf(at.Name, "a key doesn't belong in this file: name an environment variable in keyEnv, or an owner-only file in keyFile, instead of %q", name)
		case !known:
			return nil, d.errorf(at.Name, "a model has no member %q%s", name, suggest(name, slices.Sorted(maps.Keys(members))))
		case seen[name]:
			return nil, d.errorf(at.Name, "%q is there twice", name)
		}
		seen[name] = true
		if raw := bytes.TrimSpace(at.Value.Pack()); string(raw) == "null" || json.Unmarshal(raw, member.to) != nil {
			return nil, d.errorf(at.Value, "%s must be %s", name, member.want)
		}
	}
	return m, nil
}

// suggest says which names were probably meant, or else which there are.
func suggest(name string, names []string) string {
	if near := humanize.Similar(name, names); len(near) > 0 {
		return "; is it " + strings.Join(near, " or ") + "?"
	}
	return "; it has " + humanize.List(names, len(names))
}

// A member is a member of a model's object: where its value belongs, and what it must be.
type member struct {
	to   any
	want string
}

// wants say what values of a type must be.
var wants = map[reflect.Type]string{
	reflect.TypeFor[string]():   "a text",
	reflect.TypeFor[bool]():     "true or false",
	reflect.TypeFor[float64]():  "a number from 0 to 1",
	reflect.TypeFor[int]():      "a whole number",
	reflect.TypeFor[*int]():     "a whole number",
	reflect.TypeFor[[]string](): "a list of texts",
	reflect.TypeFor[Duration](): `a time such as "90s"`,
}

// members returns the members of the model's object, which are its tagged fields.
func (m *Model) members() map[string]member {
	all := make(map[string]member)
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			all[name] = member{v.Field(i).Addr().Interface(), wants[field.Type]}
		}
	}
	return all
}
