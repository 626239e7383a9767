package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/cli/command"
)

// TestSharedVariables lists the variables that several commands read: each must mean one
// thing, whoever sets it, because it is often set for all of them.
func TestSharedVariables(t *testing.T) {
	oneMeaning := map[string]string{
		"BEAM_ACCEPT_LOSS": "a damaged log is continued", "BEAM_REPLAY_ALWAYS": "durable runs that wait are evicted at once",
		"BEAM_ADDR":  "where the Beam of this machine listens",
		"BEAM_URL":   "where browsers and clients reach it",
		"BEAM_DATA":  "the data folder",
		"BEAM_STORE": "the database of replicas", "BEAM_SECRETS_KEY_FILE": "the key of what is encrypted there",
		"BEAM_USERS": "the file of users",
		"BEAM_ROOT":  "the folder that photons may read", "BEAM_MODELS": "the models that photons may ask",
		"BEAM_PHOTONS": "the photons that are served", "BEAM_MCP_CONFIG": "files of upstreams",
		"BEAM_MEMORY": "nothing is stored",
		"BEAM_OPEN":   "a browser is opened when a person has to see a page",
		"BEAM_SERVER": "the Beam that a client uses", "BEAM_TOKEN": "what a client presents to it",
		"BEAM_JSON": "output is JSON", "BEAM_VERBOSE": "output has log lines of level debug", "BEAM_QUIET": "output has no events",
		"BEAM_PLAIN": "a terminal is written to in lines", "BEAM_NO_INPUT": "nobody is asked in the terminal",
	}
	for _, prefix := range []string{"LOG", "KEEP", "ELICITATION", "ASK", "WORKING", "DISK"} {
		oneMeaning["BEAM_"+prefix+"_"] = "a setting of whatever runs photons"
	}
	for _, name := range []string{"APPS_DESTRUCTIVE", "TRACES", "SYNC", "EVICT_AFTER"} {
		oneMeaning["BEAM_"+name] = "a setting of whatever runs photons"
	}
	p := &process{&command.Program{}}
	if _, err := p.parse([]string{"serve"}, nil); err != nil {
		t.Fatal(err)
	}
	commands := make(map[string][]string) // that read a variable
	for _, leaf := range p.Parser.Model.Leaves(false) {
		for _, f := range leaf.Flags {
			for _, variable := range f.Envs {
				commands[variable] = append(commands[variable], leaf.FullPath())
			}
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(commands)) {
		family, _, _ := strings.Cut(strings.TrimPrefix(variable, "BEAM_"), "_")
		if by := commands[variable]; len(by) > 1 && oneMeaning[variable] == "" && oneMeaning["BEAM_"+family+"_"] == "" {
			t.Errorf("%s is a variable of %s: give it one meaning here, or several names", variable, strings.Join(by, ", "))
		}
	}
	if by := commands["BEAM_SERVE_TOKEN"]; len(by) != 1 || slices.Contains(commands["BEAM_TOKEN"], by[0]) {
		t.Errorf("BEAM_SERVE_TOKEN is read by %v, and BEAM_TOKEN by %v", by, commands["BEAM_TOKEN"])
	}
}
