package connect

import (
	"encoding/json"
	"slices"
	"strings"
)

// KeepFlags returns the entry with the flags that its program has already in a client's
// configuration and the entry doesn't set, such as --mcp-config. If there is no such entry,
// or the file can't be read, it returns the entry as it is.
func (c Client) KeepFlags(file string, e Entry) Entry {
	document, _, err := read(file)
	if err != nil {
		return e
	}
	old, err := find(document, c.member, e.Name)
	if err != nil || !old.runs(e.Command) {
		return e
	}
	var args []string
	if i := old.index("args"); i < 0 || json.Unmarshal(compact(old.Members[i].Value), &args) != nil || len(args) == 0 || args[0] != e.Args[0] {
		return e
	}
	set := make(map[string]bool)
	for _, f := range splitFlags(e.Args) {
		set[nameOfFlag(f)] = true
	}
	e.Args = slices.Clone(e.Args)
	for _, f := range splitFlags(args) {
		if !set[nameOfFlag(f)] {
			e.Args = append(e.Args, f...)
		}
	}
	return e
}

// splitFlags returns the flags among arguments, each with its value, if that follows it.
func splitFlags(args []string) (flags [][]string) {
	for i, arg := range args {
		switch {
		case strings.HasPrefix(arg, "-"):
			flags = append(flags, []string{arg})
		case i > 0 && len(flags) > 0 && strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "="):
			flags[len(flags)-1] = append(flags[len(flags)-1], arg)
		}
	}
	return flags
}

func nameOfFlag(flag []string) string {
	name, _, _ := strings.Cut(flag[0], "=")
	return name
}
