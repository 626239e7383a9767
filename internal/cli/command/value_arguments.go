package command

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runs"
)

// A ValueFlag is a flag that stands for a parameter of a photon or a field of a question,
// as it is on the command line.
type ValueFlag struct {
	Name     string
	value    string
	hasValue bool
}

// String returns the flag for messages.
func (f ValueFlag) String() string { return "--" + f.Name }

// A ValueArguments is what follows the name of a photon or a question on the command line,
// besides the command's own flags.
type ValueArguments struct {
	Flags []ValueFlag
	Own   []string              // the names of the command's own flags that were given
	all   map[string]*kong.Flag // the command's own flags, by name
	Help  bool                  // --help is among them
}

// takesValues reports whether a command takes flags that depend on its argument.
func takesValues(command string) bool { return command == "run" || command == "answer" }

// SplitArguments separates the flags for values from a command line. They come after the
// command's argument. The command's own flags may come anywhere; a value of their name is
// written as --in-NAME.
func SplitArguments(parser *kong.Kong, args []string) (own []string, values ValueArguments, err error) {
	if len(args) == 0 || !takesValues(args[0]) {
		return args, values, nil
	}
	flags := OwnFlags(parser, args[0])
	values.all = flags
	own = append(own, args[0])
	named := false // the argument has been seen
	for i := 1; i < len(args); i++ {
		arg := args[i]
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		flag, isOwn := flags[name]
		isOwn = isOwn && (!named || name != "version") // which no command has
		switch {
		case named && (arg == "--help" || arg == "-h"):
			values.Help = true
		case !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--":
			if named {
				return nil, values, fmt.Errorf("unexpected argument %q: write parameters as --NAME VALUE", arg)
			}
			named = true
			own = append(own, arg)
		case strings.HasPrefix(arg, "--") && isOwn:
			own, values.Own = append(own, arg), append(values.Own, name)
			if !hasValue && !flag.IsBool() && i+1 < len(args) {
				i++
				own = append(own, args[i])
			}
		case !named || !strings.HasPrefix(arg, "--"):
			own = append(own, arg) // kong refuses it
		default:
			if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
				i++
				value, hasValue = args[i], true
			}
			values.Flags = append(values.Flags, ValueFlag{name, value, hasValue})
		}
	}
	return own, values, nil
}

// OwnFlags returns the flags of a command, by name.
func OwnFlags(parser *kong.Kong, command string) map[string]*kong.Flag {
	flags := make(map[string]*kong.Flag)
	for _, f := range parser.Model.Flags {
		flags[f.Name] = f
	}
	for _, n := range parser.Model.Children {
		if n.Name != command {
			continue
		}
		for _, f := range n.Flags {
			flags[f.Name] = f
		}
	}
	return flags
}

// Decode returns the values of fields that the flags give, as JSON. Members of base are
// kept unless a flag gives their value.
func (v ValueArguments) Decode(fields askdata.Fields, base json.RawMessage, of string) (json.RawMessage, error) {
	texts := url.Values{}
	for _, f := range v.Flags {
		field, text, err := f.resolve(fields, flagNames(fields, v.all), of)
		if err != nil {
			return nil, err
		}
		texts[field.Name] = append(texts[field.Name], text)
	}
	members := make(map[string]json.RawMessage)
	if base != nil {
		if rawjson.TypeName(base) != rawjson.ObjectType || json.Unmarshal(base, &members) != nil {
			return nil, UsageErrorf("--json must be a JSON object, such as {\"name\": \"value\"}")
		}
	}
	var given askdata.Fields
	for _, f := range fields {
		list, ok := texts[f.Name]
		switch {
		case ok && runs.IsList(&f):
			members[f.Name] = encodeList(&f, list)
			delete(texts, f.Name)
		case ok:
			given = append(given, f)
		}
	}
	var decoded map[string]json.RawMessage
	if err := json.Unmarshal(form.Decode(given, texts, time.Local), &decoded); err != nil {
		return nil, err
	}
	for name, value := range decoded {
		members[name] = value
	}
	for name, list := range texts { // an empty text is a value here, not a blank field
		if _, ok := decoded[name]; !ok && fields.Field(name).Type == "string" {
			members[name], _ = json.Marshal(list[len(list)-1])
		}
	}
	return json.Marshal(members)
}

// encodeList returns the list that the values of a repeated flag are. One value may be the
// list as JSON.
func encodeList(f *askdata.Field, texts []string) json.RawMessage {
	if len(texts) == 1 && rawjson.TypeName(json.RawMessage(texts[0])) == rawjson.ListType && json.Valid([]byte(texts[0])) {
		return json.RawMessage(texts[0])
	}
	items := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		if items[i] = json.RawMessage(text); f.Format == runs.FormatTexts || !json.Valid(items[i]) {
			items[i] = rawjson.EncodeText(text)
		}
	}
	raw, _ := json.Marshal(items) // valid JSON
	return raw
}

// resolve returns the field that a flag is for, and the text of its value. names are those of
// the fields' flags.
func (f ValueFlag) resolve(fields askdata.Fields, names []string, of string) (*askdata.Field, string, error) {
	field, negated := fieldOfFlag(fields, f.Name)
	if name, ok := strings.CutPrefix(f.Name, "in-"); field == nil && ok {
		field, negated = fieldOfFlag(fields, name)
	}
	switch {
	case field == nil:
		if near := humanize.Similar(f.Name, names); len(near) > 0 {
			return nil, "", UsageErrorf("%s has no parameter %s; did you mean --%s?", of, f, strings.Join(near, " or --"))
		}
		return nil, "", UsageErrorf("%s has no parameter %s; it has %s", of, f, describeFlags(names))
	case negated && f.hasValue:
		return nil, "", UsageErrorf("%s takes no value", f)
	case negated:
		return field, "false", nil
	case !f.hasValue && field.Type == "boolean":
		return field, "true", nil
	case !f.hasValue:
		return nil, "", UsageErrorf("%s needs a value", f)
	case field.Type == "boolean":
		return field, normalizeYesNo(f.value), nil
	}
	return field, f.value, nil
}

func normalizeYesNo(text string) string {
	switch strings.ToLower(text) {
	case "yes":
		return "true"
	case "no":
		return "false"
	case "":
		return "empty"
	}
	return text
}

// fieldOfFlag returns the field that a flag is for, and whether it is the flag for no.
func fieldOfFlag(fields askdata.Fields, name string) (field *askdata.Field, negated bool) {
	if field = FieldNamed(fields, name); field != nil {
		return field, false
	}
	if name, ok := strings.CutPrefix(name, "no-"); ok {
		if field = FieldNamed(fields, name); field != nil && field.Type == "boolean" {
			return field, true
		}
	}
	return nil, false
}

// FieldNamed returns a field by its name, in which hyphens may stand for underscores.
func FieldNamed(fields askdata.Fields, name string) *askdata.Field {
	if f := fields.Field(name); f != nil {
		return f
	}
	return fields.Field(strings.ReplaceAll(name, "-", "_"))
}

func describeFlags(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return "--" + strings.Join(names, ", --")
}

// flagNames returns the names of the flags for fields.
func flagNames(fields askdata.Fields, own map[string]*kong.Flag) []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = FlagName(fields[i].Name, own)
	}
	return names
}

// FlagName returns the name of the flag for a field: --in-NAME if NAME is a flag of the
// command, which --version isn't after its argument.
func FlagName(field string, own map[string]*kong.Flag) string {
	if own[field] != nil && field != "version" {
		return "in-" + field
	}
	return field
}

// Shadowed returns the name of the command's own flag that a message begins with; empty if
// there is none.
func (v ValueArguments) Shadowed(message string) string {
	for _, name := range v.Own {
		if rest, ok := strings.CutPrefix(message, "--"+name); ok && strings.IndexAny(rest, " :") == 0 {
			return name
		}
	}
	return ""
}
