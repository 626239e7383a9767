package gateway_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	upstreams "github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// A fault is a call of a tool that misbehaves.
type fault struct {
	tool      string
	arguments map[string]any
	want      string // in the result or the error; empty for whatever it is
	never     bool   // the call doesn't end by itself
	slow      bool   // it takes long, or the upstream waits longer to connect again
}

var faults = []fault{
	{tool: "schema_nested"},
	{tool: "schema_unknown_type"},
	{tool: "schema_ref"},
	{tool: "schema_list"},
	{tool: "schema_pattern"},
	{tool: "schema_bounds"},
	{tool: "default"},
	{tool: "no_message"},
	{tool: "mode"},
	{tool: "markup"},
	{tool: "url_user"},
	{tool: "url_punycode"},
	{tool: "url_lookalike"},
	{tool: "url_script"},
	{tool: "url_file"},
	{tool: "url_relative"},
	{tool: "oversized_question", slow: true},
	{tool: "many_fields"},
	{tool: "many_questions", arguments: map[string]any{"count": 150}},
	{tool: "withdrawn", arguments: map[string]any{"after": 0}, want: "Withdrew"},
	{tool: "same_id"},
	{tool: "reused_id"},
	{tool: "late_question", want: "The call has ended."},
	{tool: "unknown_request"},
	{tool: "abandoned", want: "Did not wait."},
	{tool: "changes", arguments: map[string]any{"count": 1000}, want: "Said so 1000"},
	{tool: "never", never: true},
	{tool: "deaf", never: true},
	{tool: "twice", want: "The first answer."},
	{tool: "malformed", want: "not valid"},
	{tool: "not_jsonrpc", want: "not valid"},
	{tool: "not_a_result"},
	{tool: "content"},
	{tool: "unknown_content"},
	{tool: "result_and_error", want: "not valid"},
	{tool: "error_without_code"},
	{tool: "binary", want: "not valid"},
	{tool: "deep", want: "not valid"},
	{tool: "structured"},
	{tool: "stray_answers", want: "Sent them."},
	{tool: "stray_notifications", want: "Sent them."},
	{tool: "oversized", want: "a message of more than"},
	{tool: "late", arguments: map[string]any{"ms": 10}, want: "Here it is."},
	{tool: "flood", arguments: map[string]any{"count": 5000}, want: "Sent 5000"},
	{tool: "stderr", arguments: map[string]any{"bytes": 8 << 20}, want: "Wrote 8388608"},
	{tool: "stderr", arguments: map[string]any{"bytes": 1 << 30}, want: "Wrote 1073741824", slow: true},
	{tool: "exit", want: "the process ended: exit status 3", slow: true},
	{tool: "exit", arguments: map[string]any{"ask": true}, want: "the process ended: exit status 3", slow: true},
	{tool: "exit", arguments: map[string]any{"after": 1}, want: "The process ends"},
}

// A pinger calls a tool of an upstream that works, again and again.
type pinger struct {
	stop    chan struct{}
	done    sync.WaitGroup
	calls   int
	longest time.Duration
	failure string
}

// ping starts to call a tool until finish is called.
func ping(t *testing.T, session *mcp.ClientSession, tool string) *pinger {
	p := &pinger{stop: make(chan struct{})}
	p.done.Go(func() {
		for p.failure == "" {
			select {
			case <-p.stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			start := time.Now()
			if got, failed := call(t, session, programtest.WaitTimeout, tool, nil); failed || !strings.Contains(got, "A text.") {
				p.failure = got
			}
			p.calls++
			p.longest = max(p.longest, time.Since(start))
		}
	})
	return p
}

// finish ends the calls, and reports whether all went well.
func (p *pinger) finish(t *testing.T) {
	t.Helper()
	close(p.stop)
	p.done.Wait()
	t.Logf("meanwhile, %d calls of the other upstream took %v at most", p.calls, p.longest)
	if p.failure != "" {
		t.Errorf("meanwhile, a call of the other upstream returned %s", p.failure)
	}
}

// While an upstream does everything wrong that one can, each of its calls ends or can be
// cancelled, the upstream works again afterwards, and another works all the time.
func TestFaultsAreContained(t *testing.T) {
	for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			g := startGateway(t, map[string]upstream{"hostile": testServer(t, "--protocol", protocol), "healthy": testServer(t)}, "--ask-fallback", "error")
			session := g.connect("2025-11-25", accept(map[string]any{"name": "Ada"}))
			awaitTools(t, session, "hostile__fault_exit", "healthy__content_text")
			p := ping(t, g.connect("2025-11-25", accept(nil)), "healthy__content_text")
			for _, f := range faults {
				if !f.slow || !testing.Short() {
					f.check(t, session)
				}
			}
			p.finish(t)
		})
	}
}

func (f fault) check(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	tool := "hostile__fault_" + f.tool
	within := programtest.WaitTimeout
	if f.never {
		within = 300 * time.Millisecond
	}
	start := time.Now()
	got, _ := call(t, session, within, tool, f.arguments)
	t.Logf("%s %v after %v: %.300s", tool, f.arguments, time.Since(start).Round(time.Millisecond), got)
	if took := time.Since(start); !f.never && took >= programtest.WaitTimeout {
		t.Errorf("%s did not end within %v", tool, programtest.WaitTimeout)
	}
	if !strings.Contains(got, f.want) && !strings.Contains(got, "a server sends no requests") {
		t.Errorf("%s returned %.500s, want %q", tool, got, f.want)
	}
	f.checkRecovery(t, session)
}

// checkRecovery checks that the upstream works again.
func (f fault) checkRecovery(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	var got string
	works := func() bool {
		var failed bool
		got, failed = call(t, session, programtest.WaitTimeout, "hostile__content_text", nil)
		return !failed && strings.Contains(got, "A text.")
	}
	if !programtest.Poll(works) {
		t.Errorf("after %s the upstream doesn't work any more: %s", f.tool, got)
	}
}

// startFaults are the faults of a whole upstream, and what its status says: its error,
// or why a tool isn't offered. A fault that does no harm has no text.
var startFaults = map[string]string{
	"silent": "", "garbage": "not valid", "exit": "exit status 3", "unknown-version": "1999-01-01", "many-tools": "more than 10000 tools", "cyclic-cursor": "repeats a cursor",
	"endless-cursor": "more than 1000 pages", "no-list": "no list of tools", "cyclic-ref": "", "schema-bomb": "", "deep-schema": "nested", "remote-ref": "", "slow-pattern": "",
	"bad-schema": "schema", "bad-names": "name", "same-names": "same", "changing-description": "", "injected-description": "", "long-description": "bytes",
}

// With an upstream of every fault, Beam starts, and serves the one that works.
func TestFaultyUpstreamsAtStart(t *testing.T) {
	t.Parallel()
	servers := map[string]upstream{"healthy": testServer(t)}
	for fault := range startFaults {
		servers[fault] = testServer(t, "--fault", fault)
	}
	g := startGateway(t, servers)
	session := g.connect("2025-11-25", accept(nil))
	tools := awaitTools(t, session, "healthy__content_text", "cyclic-ref__cyclic", "schema-bomb__bomb")
	if got, failed := call(t, session, programtest.WaitTimeout, "healthy__content_text", nil); failed || !strings.Contains(got, "A text.") {
		t.Errorf("the upstream that works returned %s", got)
	}
	for name := range tools {
		if strings.ContainsAny(name, " <>/\x1b\u202e") || len(name) > 50 {
			t.Errorf("a tool is named %q", name)
		}
	}
	for _, tool := range []string{"cyclic-ref__cyclic", "schema-bomb__bomb", "slow-pattern__pattern"} {
		start := time.Now()
		got, _ := call(t, session, programtest.WaitTimeout, tool, map[string]any{"x": strings.Repeat("a", 40) + "!"})
		if took := time.Since(start); took > programtest.ExitTimeout {
			t.Errorf("validating the arguments of %s took %v: %s", tool, took, got)
		}
	}
}

// The status of each upstream names its fault.
func TestStatusNamesFaults(t *testing.T) {
	t.Parallel()
	photons, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	o := upstreams.Options{Photons: photons, Policy: policy.Options{Elicitation: policy.DefaultElicitation()}, Name: "beam", Version: "test"}
	for fault := range startFaults {
		c := testServer(t, "--fault", fault)
		o.Servers = append(o.Servers, config.Server{Target: client.Target{Name: fault, Type: config.Stdio, Command: c.Command, Args: c.Args, Env: c.Env}})
	}
	m, err := upstreams.NewManager(o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // one of them never answers
	defer cancel()
	if err := m.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if silent, _ := m.Lookup("silent"); silent.Status().State != upstreams.Connecting { // for a minute
		t.Errorf("the upstream that never answers is %s", silent.Status().State)
	}
	for _, u := range m.Upstreams() {
		if u.Name() == "silent" {
			continue
		}
		want := startFaults[u.Name()]
		var state upstreams.State
		var said string
		programtest.Poll(func() bool {
			state, said = describeStatus(u)
			return state != upstreams.Connecting && strings.Contains(said, want)
		})
		switch {
		case !strings.Contains(said, want):
			t.Errorf("the status of %s is %s, %q; want %q in it", u.Name(), state, said, want)
		case want == "" && state != upstreams.Connected:
			t.Errorf("%s is %s: %s", u.Name(), state, said)
		}
	}
}

// describeStatus returns an upstream's state, and what it says of the upstream's faults.
func describeStatus(u *upstreams.Upstream) (state upstreams.State, said string) {
	status := u.Status()
	said = status.LatestError()
	for _, tool := range status.Tools {
		said += "; " + tool.Reason
	}
	return status.State, said
}
