// Package policy decides what an upstream may do: which of its tools are offered and to whom,
// how often they may be called, what it may ask, and what is recorded of it.
package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// Options are what the policies of all upstreams of one Beam have in common.
type Options struct {
	State       smallstate.Store // has what was accepted; nil keeps it in memory
	Shared      bool             // State is used by other processes, too
	Elicitation Elicitation
	Meter       Meter  // nil counts nothing
	Audit       *Audit // nil records nothing
	Logger      *slog.Logger
}

// A Meter counts what upstreams do. Its methods may be called from several
// goroutines.
type Meter interface {
	// UpstreamCall counts a call.
	UpstreamCall(upstream string, outcome CallOutcome, took time.Duration)
	// UpstreamAsk counts a request to ask somebody.
	UpstreamAsk(upstream string, outcome AskOutcome)
}

// CallOutcome is how a call ended.
type CallOutcome string

// The outcomes of calls.
const (
	CallCompleted CallOutcome = "completed"
	CallFailed    CallOutcome = "failed"   // the tool reported an error, or the connection failed
	CallRefused   CallOutcome = "refused"  // a limit or a list forbade it
	CallCanceled  CallOutcome = "canceled" // its run was stopped
)

// A Policy decides what one upstream may do. Its methods may be called from several
// goroutines.
type Policy struct {
	server  config.Server
	options Options
	pins    *Pins
	rate    *rate.Limiter // nil for no limit

	mu    sync.Mutex
	calls int                    // in progress
	asks  map[any]int            // open, by session
	tools map[string]*ToolStatus // by name, as they were last reviewed
}

// New returns the policy of an upstream. The error says that what was accepted
// of its tools can't be read.
func New(server config.Server, options Options) (*Policy, error) {
	if options.Meter == nil {
		options.Meter = noMeter{}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.State == nil {
		options.State = smallstate.NewMemory()
	}
	pins, err := OpenPins(options.State, server.Name)
	if err != nil {
		return nil, err
	}
	p := &Policy{server: server, options: options, pins: pins, asks: make(map[any]int), tools: make(map[string]*ToolStatus)}
	if n := server.Limits.CallsPerMinute; n > 0 {
		p.rate = rate.NewLimiter(rate.Every(time.Minute/time.Duration(n)), n)
	}
	return p, nil
}

type noMeter struct{}

func (noMeter) UpstreamCall(string, CallOutcome, time.Duration) {}
func (noMeter) UpstreamAsk(string, AskOutcome)                  {}

// Record says what the log keeps of a call.
func (p *Policy) Record() config.Record { return p.server.Record }

// Review decides what becomes of the tools that the upstream lists, given their
// definitions: those that are new are accepted, and those that changed are held back.
// It returns them in their order.
func (p *Policy) Review(definitions []json.RawMessage) []*ToolStatus {
	tools := make([]*ToolStatus, 0, len(definitions))
	seen := make(map[string]bool, len(definitions))
	var review []*ToolStatus
	offered := 0
	for _, raw := range definitions {
		t := newToolStatus(raw)
		if t.Decision == "" && seen[t.Name] {
			t.Skip("Another tool of the server has the same name.")
		}
		seen[t.Name] = true
		tools = append(tools, t)
		if t.Decision == "" && !p.permits(t.Name) {
			t.Decision, t.Reason = Denied, "The lists allow and deny leave it out."
		}
		if t.Decision != "" {
			continue
		}
		if offered++; offered > p.maxTools() {
			t.Skip(fmt.Sprintf("The server has more than %d tools that may be offered.", p.maxTools()))
			continue
		}
		review = append(review, t)
	}
	if err := p.pins.review(review); err != nil {
		p.options.Logger.Error("remembering the tools of an upstream", "upstream", p.server.Name, "err", err)
	}
	p.setTools(tools)
	return tools
}

// setTools keeps reviewed tools, and logs which are new or held back since the
// last review.
func (p *Policy) setTools(tools []*ToolStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.tools
	p.tools = make(map[string]*ToolStatus, len(tools))
	var added, held []string
	for _, t := range tools {
		if p.tools[t.Name] != nil {
			continue // the first of a name counts
		}
		p.tools[t.Name] = t
		old := before[t.Name]
		switch {
		case t.Decision == Held && (old == nil || old.Change == nil || old.Change.Digest != t.Change.Digest):
			held = append(held, t.Name)
		case t.Decision == Offered && old == nil && len(before) > 0 && !t.Added.IsZero():
			added = append(added, t.Name)
		}
	}
	const most = 20 // names in the log
	if len(held) > 0 {
		p.options.Logger.Warn("tools of an upstream changed and are held back until an operator accepts them", "upstream", p.server.Name, "count", len(held), "tools", held[:min(len(held), most)])
	}
	if len(added) > 0 {
		p.options.Logger.Info("an upstream has new tools", "upstream", p.server.Name, "count", len(added), "tools", added[:min(len(added), most)])
	}
}

// maxOfferedTools is how many tools of an upstream are offered without a limit of
// its own.
const maxOfferedTools = 2000

func (p *Policy) maxTools() int {
	if n := p.server.Limits.Tools; n > 0 {
		return min(n, maxOfferedTools)
	}
	return maxOfferedTools
}

// permits reports whether the lists allow and deny permit a tool.
func (p *Policy) permits(name string) bool {
	matches := func(pattern string) bool { return config.Match(pattern, name) }
	return (len(p.server.Allow) == 0 || slices.ContainsFunc(p.server.Allow, matches)) && !slices.ContainsFunc(p.server.Deny, matches)
}

// maxToolName is the length of the longest name of a tool, in bytes (MCP, Tools,
// Tool Names).
const maxToolName = 128

// newToolStatus reads the name of a tool. One that can't be offered is skipped.
func newToolStatus(raw json.RawMessage) *ToolStatus {
	t := &ToolStatus{Raw: raw}
	var d struct {
		Name, Title string
		Annotations struct{ Title string }
	}
	switch err := json.Unmarshal(raw, &d); {
	case err != nil:
		t.Skip("Its definition is malformed.")
	case d.Name == "":
		t.Skip("It has no name.")
	case len(d.Name) > maxToolName:
		d.Name = d.Name[:maxToolName]
		t.Skip(fmt.Sprintf("Its name has more than %d bytes.", maxToolName))
	}
	t.Name, t.Title = CleanLine(d.Name, maxToolName), CleanLine(d.Title, 200)
	if t.Title == "" {
		t.Title = CleanLine(d.Annotations.Title, 200)
	}
	if t.Decision != "" {
		return t
	}
	if cleantext.Text(d.Name) != d.Name || strings.ContainsAny(d.Name, "\n\t") {
		t.Skip("Its name has control characters or invisible ones.")
		return t
	}
	t.Name = d.Name
	if err := catalogue.CheckDefinition(raw); err != nil {
		t.Skip(UpperFirst(err.Error()) + ".")
	}
	return t
}

// Skip makes t a tool that isn't offered.
func (t *ToolStatus) Skip(reason string) { t.Decision, t.Reason = Skipped, reason }

// Errors of [Policy.Accept].
var (
	ErrToolNotFound  = errors.New("no such tool is held back")
	ErrChangedAgain  = errors.New("the tool has changed again: look at it once more")
	errCallForbidden = errors.New("you may not use this upstream")
)

// Accept accepts a tool that is held back as it is now; the caller then reviews the
// tools again. If digest isn't empty, it must be that of the change that the operator
// saw. The error wraps [ErrToolNotFound] or [ErrChangedAgain], or says why the
// decision can't be stored.
func (p *Policy) Accept(tool, digest string) error {
	p.mu.Lock()
	t := p.tools[tool]
	p.mu.Unlock()
	if t == nil || t.Change == nil {
		return ErrToolNotFound
	}
	if digest != "" && digest != t.Change.Digest {
		return ErrChangedAgain
	}
	return p.pins.accept(tool, t.Raw)
}

// heldTools returns the names of the tools that are held back, sorted.
func (p *Policy) heldTools() (held []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, t := range p.tools {
		if t.Change != nil {
			held = append(held, name)
		}
	}
	slices.Sort(held)
	return held
}

func (p *Policy) DescribeHeld() string {
	held := p.heldTools()
	if len(held) == 0 {
		return p.server.Name + " has none"
	}
	return p.server.Name + " has " + humanize.List(held, 20)
}

// AcceptAll accepts all tools that are held back, and returns their names. If there were
// so many tools that new ones are left out, it forgets those that are gone.
func (p *Policy) AcceptAll() (accepted []string, err error) {
	accepted = p.heldTools()
	p.mu.Lock()
	listed := p.tools
	p.mu.Unlock()
	if _, err = p.pins.forgetAbsent(listed); err != nil {
		return nil, err
	}
	for _, name := range accepted {
		err = errors.Join(err, p.Accept(name, ""))
	}
	return accepted, err
}

// AllowCaller returns an error for a caller who may not use the upstream's tools. It
// is for [generators.Options].
func (p *Policy) AllowCaller(c generators.Caller) error {
	if len(p.server.Roles) == 0 || slices.ContainsFunc(p.server.Roles, c.HasRole) {
		return nil
	}
	return errCallForbidden
}
