package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/tailscale/hujson"
)

// A decoder decodes one server, and collects what is wrong with it.
type decoder struct {
	server   Server
	disabled bool
	seen     map[string]bool // fields
	problems []error
	expander expander
}

func newDecoder(path string, lookup func(string) (string, bool)) *decoder {
	return &decoder{server: Server{File: path}, seen: make(map[string]bool), expander: expander{folder: folderOf(path), lookup: lookup}}
}

// fieldDecoders are the fields of a server. Other fields belong to the clients
// whose file it is.
var fieldDecoders = map[string]func(*decoder, string, json.RawMessage){
	"type":      func(d *decoder, f string, v json.RawMessage) { d.text(f, v, &d.server.Type) },
	"command":   func(d *decoder, f string, v json.RawMessage) { d.expanded(f, v, &d.server.Command) },
	"args":      (*decoder).args,
	"env":       func(d *decoder, f string, v json.RawMessage) { d.expandedMap(f, v, &d.server.Env) },
	"cwd":       func(d *decoder, f string, v json.RawMessage) { d.expanded(f, v, &d.server.Cwd) },
	"url":       func(d *decoder, f string, v json.RawMessage) { d.expanded(f, v, &d.server.URL) },
	"serverUrl": func(d *decoder, f string, v json.RawMessage) { d.expanded(f, v, &d.server.URL) },
	"httpUrl":   func(d *decoder, f string, v json.RawMessage) { d.expanded(f, v, &d.server.URL) },
	"headers":   func(d *decoder, f string, v json.RawMessage) { d.expandedMap(f, v, &d.server.Headers) },
	"disabled":  func(d *decoder, f string, v json.RawMessage) { d.value(f, v, &d.disabled, "true or false") },
	"allow":     func(d *decoder, f string, v json.RawMessage) { d.list(f, v, &d.server.Allow) },
	"deny":      func(d *decoder, f string, v json.RawMessage) { d.list(f, v, &d.server.Deny) },
	"roles":     func(d *decoder, f string, v json.RawMessage) { d.list(f, v, &d.server.Roles) },
	"record":    func(d *decoder, f string, v json.RawMessage) { d.text(f, v, (*string)(&d.server.Record)) },
	"sensitive": func(d *decoder, f string, v json.RawMessage) { d.text(f, v, (*string)(&d.server.Sensitive)) },
	"parallel":  func(d *decoder, f string, v json.RawMessage) { d.text(f, v, (*string)(&d.server.Parallel)) },
	"limits":    (*decoder).limits,
}

// decode decodes and validates a server.
func (d *decoder) decode(def definition) {
	d.server.Name = def.name
	if err := CheckName(def.name); err != nil {
		d.problemf("", "%w", err)
	}
	body, ok := def.body.Value.(*hujson.Object)
	if !ok {
		d.problemf("", `must be an object, such as {"command": "npx", "args": ["-y", "PACKAGE"]}`)
		return
	}
	for _, m := range body.Members {
		field := nameOf(m)
		decode, known := fieldDecoders[field]
		switch {
		case d.seen[field]:
			d.problemf(field, "the field is there twice")
		case known:
			decode(d, field, json.RawMessage(m.Value.Pack()))
		default:
			d.server.Ignored = append(d.server.Ignored, field)
		}
		d.seen[field] = true
	}
	d.server.Secrets = d.expander.secrets
	d.validate()
}

// problemf records that a field is wrong; "" stands for the server.
func (d *decoder) problemf(field, format string, args ...any) {
	place := fmt.Sprintf("server %q: ", d.server.Name)
	if d.server.File != "" {
		place = d.server.File + ": " + place
	}
	if field != "" {
		place += field + ": "
	}
	d.problems = append(d.problems, fmt.Errorf("%s%w", place, fmt.Errorf(format, args...)))
}

// value decodes a field; want says what it must be.
func (d *decoder) value(field string, v json.RawMessage, to any, want string) bool {
	if err := json.Unmarshal(v, to); err != nil || string(v) == "null" {
		d.problemf(field, "must be %s", want)
		return false
	}
	return true
}

func (d *decoder) text(field string, v json.RawMessage, to *string) {
	d.value(field, v, to, "a string")
}

func (d *decoder) list(field string, v json.RawMessage, to *[]string) {
	if d.value(field, v, to, "a list of strings") && len(*to) == 0 {
		d.problemf(field, "the list is empty: leave the field out, or name something")
	}
}

// expanded decodes a string with references.
func (d *decoder) expanded(field string, v json.RawMessage, to *string) {
	var text string
	if !d.value(field, v, &text, "a string") {
		return
	}
	expanded, err := d.expander.expand(text)
	if err != nil {
		d.problemf(field, "%w", err)
		return
	}
	*to = expanded
}

func (d *decoder) args(field string, v json.RawMessage) {
	var args []json.RawMessage
	if !d.value(field, v, &args, "a list of strings") {
		return
	}
	d.server.Args = make([]string, len(args))
	for i, arg := range args {
		d.expanded(fmt.Sprintf("%s[%d]", field, i), arg, &d.server.Args[i])
	}
}

// expandedMap decodes an object of strings. As in clients, a number stands for its
// digits, and null for nothing.
func (d *decoder) expandedMap(field string, v json.RawMessage, to *map[string]string) {
	var values map[string]json.RawMessage
	if !d.value(field, v, &values, "an object of strings") {
		return
	}
	*to = make(map[string]string, len(values))
	for name, value := range values {
		var n json.Number
		if string(value) == "null" {
			continue
		}
		if json.Unmarshal(value, &n) == nil && value[0] != '"' {
			(*to)[name] = n.String()
			continue
		}
		var text string
		d.expanded(field+" "+name, value, &text)
		(*to)[name] = text
	}
}

// limits decodes the limits, all of which are whole numbers but the time.
func (d *decoder) limits(field string, v json.RawMessage) {
	var values map[string]json.RawMessage
	if !d.value(field, v, &values, `an object, such as {"callsPerMinute": 60}`) {
		return
	}
	l := &d.server.Limits
	numbers := map[string]*int{"calls": &l.Calls, "callsPerMinute": &l.CallsPerMinute, "asks": &l.Asks, "tools": &l.Tools}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		place := field + " " + name
		switch number, known := numbers[name]; {
		case known:
			if d.value(place, values[name], number, "a whole number") && *number < 1 {
				d.problemf(place, "must be at least 1: leave it out for no limit")
			}
		case name == "callTimeout":
			d.duration(place, values[name], &l.CallTimeout)
		default:
			d.problemf(place, "there is no such limit; there are calls, callsPerMinute, callTimeout, asks and tools")
		}
	}
}

// duration decodes a time such as "90s", or a number of seconds.
func (d *decoder) duration(field string, v json.RawMessage, to *time.Duration) {
	text, seconds := "", 0.0
	err := json.Unmarshal(v, &text)
	if err == nil {
		*to, err = time.ParseDuration(text)
	} else if err = json.Unmarshal(v, &seconds); err == nil {
		*to = time.Duration(seconds * float64(time.Second))
	}
	if err != nil || *to <= 0 {
		d.problemf(field, `must be a time such as "90s", or a number of seconds`)
	}
}

// absolute returns a path of a file as an absolute path: relative ones are
// relative to the file's folder.
func (d *decoder) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.expander.folder, path)
}
