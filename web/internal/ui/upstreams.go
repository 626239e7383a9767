package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// upstreamState is how a state of an upstream is told, and the mark that stands for it.
type upstreamState struct{ label, mark string }

var upstreamStates = map[upstream.State]upstreamState{
	upstream.Connecting: {"Connecting", "running"},
	upstream.Connected:  {"Connected", "completed"},
	upstream.Waiting:    {"Not connected", "failed"},
	upstream.Stopped:    {"Stopped", "stopped"},
}

func stateOfUpstream(s upstream.Status) upstreamState { return upstreamStates[s.State] }

// summarizeUpstream says in a line what an upstream offers and wants.
func summarizeUpstream(s upstream.Status) string {
	parts := []string{humanize.Count(s.Count(policy.Offered), "tool")}
	if n := s.Count(policy.Held); n > 0 {
		parts = append(parts, fmt.Sprintf("%s held back", humanize.Thousands(n)))
	}
	if s.OpenAsks > 0 {
		parts = append(parts, humanize.CountOf(s.OpenAsks, "open question", "open questions"))
	}
	return strings.Join(parts, " · ")
}

// toolsWith returns the tools of an upstream with one of the decisions.
func toolsWith(s upstream.Status, decisions ...policy.Decision) []policy.ToolStatus {
	var tools []policy.ToolStatus
	for i := range s.Tools {
		if slices.Contains(decisions, s.Tools[i].Decision) {
			tools = append(tools, s.Tools[i])
		}
	}
	return tools
}

// The most tools and changes that an upstream's page shows. Changes are compared line by
// line, which takes time.
const (
	maxShownTools   = 500
	maxShownChanges = 20
)

func firstOf[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// moreThan says how many of a list aren't shown; empty if all are.
func moreThan(shown, count int, where string) string {
	if count <= shown {
		return ""
	}
	return fmt.Sprintf("%s more are not shown here%s.", humanize.Thousands(count-shown), where)
}

// changeArtifact returns how a tool changed, as an artifact that shows lines of a diff.
func changeArtifact(t policy.ToolStatus) *generators.Artifact {
	before, now := t.Change.Texts()
	a, ok := generators.Diff(t.Name, before, now).(*generators.Artifact)
	if !ok {
		panic("ui: a diff is an artifact")
	}
	return a
}

// describeImplementation returns the name and version that a server says of itself.
func describeImplementation(info json.RawMessage) string {
	var i struct{ Name, Title, Version string }
	_ = json.Unmarshal(info, &i) // a server may say anything
	return humanize.Truncate(strings.TrimSpace(cmp.Or(i.Title, i.Name)+" "+i.Version), 200)
}

// capabilityNames returns the names of a server's capabilities.
func capabilityNames(capabilities json.RawMessage) string {
	var c map[string]json.RawMessage
	_ = json.Unmarshal(capabilities, &c) // a server may say anything
	return humanize.Truncate(humanize.List(slices.Sorted(maps.Keys(c)), 20), 400)
}

// newestFirst returns the events of a list in reverse.
func newestFirst(events []upstream.Event) []upstream.Event {
	reversed := slices.Clone(events)
	slices.Reverse(reversed)
	return reversed
}

// joinLines returns the texts of events as lines.
func joinLines(events []upstream.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.Text + "\n")
	}
	return b.String()
}

// upstreamQuery returns the page parameter of the stream that updates an upstream's page.
// A name that no upstream can have isn't part of it.
func upstreamQuery(name string) string {
	if config.CheckName(name) != nil {
		return "upstreams"
	}
	return "upstreams&upstream=" + name
}
