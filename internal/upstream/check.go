package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// A Report is what [Check] found out about a server.
type Report struct {
	Name         string               `json:"name"`
	Version      string               `json:"protocolVersion,omitempty"`
	Server       string               `json:"server,omitempty"` // its name and version, as it says
	Capabilities []string             `json:"capabilities,omitempty"`
	Tools        []*policy.ToolStatus `json:"tools,omitempty"`
	Findings     []Finding            `json:"findings"`
	Took         millis               `json:"tookMs"`
}

// A Finding is something that an operator should know, and what to do about it.
type Finding struct {
	IsError bool   `json:"error"` // the server can't be used
	Text    string `json:"text"`
	Mend    string `json:"mend,omitempty"`
}

// millis is a duration in milliseconds.
type millis int64

// Failed reports whether a finding is an error.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.IsError })
}

func (r *Report) add(isError bool, mend, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{isError, fmt.Sprintf(format, args...), mend})
}

// Check connects to a server, lists its tools, and disconnects. What was accepted of the tools
// are the values of [PinsBucket]; it changes none.
func Check(ctx context.Context, server config.Server, accepted []smallstate.Value, clientInfo json.RawMessage) *Report {
	r := &Report{Name: server.Name, Findings: []Finding{}}
	began := time.Now()
	defer func() { r.Took = millis(time.Since(began).Milliseconds()) }()
	for _, text := range server.Warnings {
		r.add(false, "", "%s", text)
	}
	if len(server.Ignored) > 0 {
		r.add(false, "", "Beam ignores these fields, which other clients have: %s", humanize.List(server.Ignored, 10))
	}
	var stderr stderrTail
	s, err := client.Connect(ctx, server.Target, client.Options{Info: clientInfo, HandleStderr: stderr.add})
	if err != nil {
		r.addConnectError(server, err, stderr.text())
		return r
	}
	defer s.Close()
	told := s.Server()
	r.Version, r.Server = told.Version, describeServer(told.Info)
	r.Capabilities = memberNames(told.Capabilities)
	if !slices.Contains(r.Capabilities, "tools") {
		r.add(false, "", "It offers no tools.")
		return r
	}
	definitions, err := s.List(ctx, "tools/list", "tools", maxListedTools)
	if err != nil {
		r.add(true, "Report it to who makes the server.", "Its tools can't be listed: %s.", policy.CleanLine(err.Error(), 500))
		return r
	}
	r.review(ctx, server, accepted, definitions)
	return r
}

// review adds the tools, and what is decided of them.
func (r *Report) review(ctx context.Context, server config.Server, accepted []smallstate.Value, definitions []json.RawMessage) {
	state := smallstate.NewMemory() // what is new is not accepted here
	for _, v := range accepted {
		if _, err := state.Apply(ctx, smallstate.Change{Bucket: policy.PinsBucket(server.Name), Key: v.Key, New: v.Value}); err != nil {
			panic(err) // it is in memory
		}
	}
	rules, err := policy.New(server, policy.Options{State: state, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.add(true, "", "%v", err)
		return
	}
	r.Tools = rules.Review(definitions)
	for _, t := range r.Tools {
		switch t.Decision {
		case policy.Held:
			r.add(false, fmt.Sprintf("See how on the page of the upstream, or accept it: beam upstream accept %s %s", server.Name, t.Name), "The tool %s has changed, and is held back.", t.Name)
		case policy.Skipped:
			r.add(false, "", "The tool %q is not offered: %s", t.Name, t.Reason)
		}
		if len(r.Findings) > maxFindings {
			return
		}
	}
	has := func(d policy.Decision) bool {
		return slices.ContainsFunc(r.Tools, func(t *policy.ToolStatus) bool { return t.Decision == d })
	}
	switch {
	case len(r.Tools) == 0:
		r.add(false, "", "It has no tools.")
	case !has(policy.Offered) && has(policy.Denied):
		r.add(false, "Look at allow and deny.", "None of its tools is offered.")
	case !has(policy.Offered):
		r.add(false, "", "None of its tools is offered.")
	}
}

// maxFindings bounds the findings of one server.
const maxFindings = 50

// addConnectError adds why a server can't be connected to, and what helps.
func (r *Report) addConnectError(server config.Server, err error, stderr string) {
	text := policy.CleanLine(maskSecrets(err.Error(), server.Secrets), 1000)
	if stderr != "" {
		text += "; its last words: " + policy.CleanLine(maskSecrets(stderr, server.Secrets), 1000)
	}
	r.add(true, suggestMend(server, err), "It can't be connected to: %s.", text)
}

// suggestMend says what to do about an error of connecting.
func suggestMend(server config.Server, err error) string {
	var dns *net.DNSError
	var network *net.OpError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		switch server.Command {
		case "npx", "node", "npm":
			return "Install Node.js, or give the command's whole path."
		case "uvx", "uv":
			return "Install uv, or give the command's whole path."
		case "docker", "podman":
			return "Install " + server.Command + ", or give the command's whole path."
		}
		return "Install the command, give its whole path, or set cwd to a folder that exists."
	case errors.Is(err, fs.ErrPermission):
		return "Make the file executable: chmod +x."
	case errors.As(err, &dns):
		return "Correct the host in its url."
	case errors.As(err, &network):
		return "Start the server, or correct the port in its url."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, client.ErrNoResponse):
		return "Run the command by hand: it must speak MCP on stdout, and nothing else."
	case client.StatusOf(err) == http.StatusNotFound:
		return "Give the whole url of its MCP endpoint, which often ends in /mcp or /sse."
	case errors.Is(err, client.ErrProcess):
		return "Run the command by hand to see why it ends."
	}
	return ""
}

// describeServer returns the name and version that a server says of itself.
func describeServer(info json.RawMessage) string {
	var i struct{ Name, Version string }
	_ = json.Unmarshal(info, &i) // a server may say nothing
	return policy.CleanLine(strings.TrimSpace(i.Name+" "+i.Version), 200)
}

// memberNames returns the names of an object's members, sorted and bounded.
func memberNames(object json.RawMessage) []string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(object, &members) // anything else has none
	names := slices.Sorted(maps.Keys(members))
	names = names[:min(len(names), 50)]
	for i, n := range names {
		names[i] = policy.CleanLine(n, 50)
	}
	return names
}

// maskSecrets replaces the secrets of a configuration in a text.
func maskSecrets(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

// stderrTail keeps the last lines that a child process writes to stderr.
type stderrTail struct {
	mu    sync.Mutex
	lines []string
}

func (t *stderrTail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines = append(t.lines, line); len(t.lines) > 3 {
		t.lines = t.lines[1:]
	}
}

func (t *stderrTail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, " / ")
}
