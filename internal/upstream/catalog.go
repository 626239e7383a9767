package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// maxListedTools is how many tools an upstream may list, offered or not.
const maxListedTools = 10_000

// offers are what an upstream offers, which the catalogue has. The methods may be called
// concurrently.
type offers struct {
	server    string // its name
	policy    *policy.Policy
	catalogue *catalogue.Catalogue
	events    *events

	offering sync.Mutex // held while tools are reviewed and registered

	mu       sync.Mutex
	reviewed []*policy.ToolStatus // as they were last reviewed
	collided error                // the collisions of their names, as they were last listed
}

// tools returns the tools as they were last reviewed.
func (o *offers) tools() []policy.ToolStatus {
	o.mu.Lock()
	defer o.mu.Unlock()
	tools := make([]policy.ToolStatus, 0, len(o.reviewed))
	for _, t := range o.reviewed {
		tools = append(tools, *t)
	}
	return tools
}

// collisions returns the error of the names of its tools, as they were last listed.
func (o *offers) collisions() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.collided
}

// listTools lists the upstream's tools, reviews them, and registers those that are
// offered.
func (o *offers) listTools(ctx context.Context, s *client.Session) error {
	var definitions []json.RawMessage
	if s.Server().Has("tools") {
		var err error
		if definitions, err = s.List(ctx, "tools/list", "tools", maxListedTools); err != nil {
			return err
		}
	}
	o.offer(definitions)
	return nil
}

// offer reviews the tools, given their definitions, and registers those that are offered.
func (o *offers) offer(definitions []json.RawMessage) {
	o.offering.Lock()
	defer o.offering.Unlock()
	o.review(definitions)
}

// review is offer for callers that hold offering.
func (o *offers) review(definitions []json.RawMessage) {
	tools := o.policy.Review(definitions)
	for _, t := range tools {
		if err := client.CheckTool(t.Raw); err != nil && t.Decision == policy.Offered {
			t.Skip("Its definition is not valid: " + policy.CleanLine(err.Error(), 200))
		}
	}
	o.register(tools)
}

// offerAgain offers the tools that were listed last, after what is accepted of them has
// changed.
func (o *offers) offerAgain() {
	o.offering.Lock()
	defer o.offering.Unlock()
	o.mu.Lock()
	var definitions []json.RawMessage
	for _, t := range o.reviewed {
		definitions = append(definitions, t.Raw)
	}
	o.mu.Unlock()
	if len(definitions) > 0 { // otherwise the upstream may not have been seen
		o.review(definitions)
	}
}

// register makes photons of the tools that are offered, in place of those that are
// registered.
func (o *offers) register(tools []*policy.ToolStatus) {
	var offered []json.RawMessage
	byName := make(map[string]*policy.ToolStatus)
	for _, t := range tools {
		if t.Decision == policy.Offered {
			offered = append(offered, t.Raw)
			byName[t.Name] = t
		}
	}
	left := o.catalogue.SetTools(o.server, offered)
	for _, l := range left {
		if t := byName[l.Name]; t != nil {
			t.Skip(policy.UpperFirst(policy.CleanLine(l.Err.Error(), 300)) + ".")
		}
	}
	for _, t := range o.catalogue.Tools(o.server) {
		if status := byName[t.Name]; status != nil && status.Decision == policy.Offered {
			status.Photon = t.Photon.Name()
			if t.Unchecked != nil {
				status.Reason = "Beam does not check its arguments, only the server does: " + policy.CleanLine(t.Unchecked.Error(), 200) + "."
			}
		}
	}
	o.mu.Lock()
	o.reviewed, o.collided = tools, collisionsAmong(left)
	o.mu.Unlock()
}

// collisionsAmong returns the errors of the tools that are left out because their names
// are taken; of many, the first and how many more there are.
func collisionsAmong(left []catalogue.LeftOut) error {
	var problems []error
	for _, l := range left {
		if errors.Is(l.Err, catalogue.ErrCollision) {
			problems = append(problems, l.Err)
		}
	}
	if more := len(problems) - maxReportedItems; more > 1 {
		problems = append(problems[:maxReportedItems], fmt.Errorf("%w, %d times more", catalogue.ErrCollision, more))
	}
	return errors.Join(problems...)
}

// maxListed is how many items each of the other lists may have.
const maxListed = 10_000

// listOthers lists what the upstream offers besides tools. A list that can't be had stays
// as it is.
func (o *offers) listOthers(ctx context.Context, s *client.Session) {
	capabilities := s.Server().Capabilities
	for _, l := range []catalogue.List{catalogue.Resources, catalogue.Templates, catalogue.Prompts} {
		if rawjson.Member(capabilities, l.Capability()) == nil {
			o.catalogue.SetList(o.server, l, nil)
			continue
		}
		items, err := s.List(ctx, string(l), l.Member(), maxListed)
		var refused *message.Error
		switch {
		case errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND:
			continue // many servers have resources, but no templates
		case err != nil:
			o.events.recordError(fmt.Errorf("%s: %w", l, err))
			continue
		}
		for n, left := range o.catalogue.SetList(o.server, l, items) {
			if n == maxReportedItems {
				break
			}
			o.events.recordError(fmt.Errorf("%q of %s is left out: %w", left.Name, l, left.Err))
		}
	}
	if s.IsModern() { // which has no such requests
		return
	}
	for _, uri := range o.catalogue.Subscribed(o.server) {
		if _, err := s.Request(ctx, "resources/subscribe", map[string]any{"uri": uri}); err != nil {
			o.events.recordError(fmt.Errorf("subscribing to %q: %w", uri, err))
		}
	}
}

// maxReportedItems is how many items of one list are reported that are left out.
const maxReportedItems = 5
