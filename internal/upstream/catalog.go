package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// maxListedTools is how many tools an upstream may list, offered or not.
const maxListedTools = 10_000

// listTools lists the upstream's tools, reviews them, and registers those that are
// offered.
func (u *Upstream) listTools(ctx context.Context, s *client.Session) error {
	var definitions []json.RawMessage
	if s.Server().Has("tools") {
		var err error
		if definitions, err = s.List(ctx, "tools/list", "tools", maxListedTools); err != nil {
			return err
		}
	}
	u.offer(definitions)
	return nil
}

// offer reviews the tools, given their definitions, and registers those that are offered.
func (u *Upstream) offer(definitions []json.RawMessage) {
	u.offering.Lock()
	defer u.offering.Unlock()
	tools := u.policy.Review(definitions)
	for _, t := range tools {
		if err := client.CheckTool(t.Raw); err != nil && t.Decision == policy.Offered {
			t.Skip("Its definition is not valid: " + policy.CleanLine(err.Error(), 200))
		}
	}
	u.register(tools)
}

// offerAgain offers the tools that were listed last, after what is accepted of them has
// changed.
func (u *Upstream) offerAgain() {
	u.mu.Lock()
	var definitions []json.RawMessage
	for _, t := range u.tools {
		definitions = append(definitions, t.Raw)
	}
	u.mu.Unlock()
	u.offer(definitions)
}

// register makes photons of the tools that are offered, in place of those that are
// registered.
func (u *Upstream) register(tools []*policy.ToolStatus) {
	var offered []json.RawMessage
	byName := make(map[string]*policy.ToolStatus)
	for _, t := range tools {
		if t.Decision == policy.Offered {
			offered = append(offered, t.Raw)
			byName[t.Name] = t
		}
	}
	left := u.manager.catalogue.SetTools(u.server.Name, offered)
	for _, l := range left {
		if t := byName[l.Name]; t != nil {
			t.Skip(policy.UpperFirst(policy.CleanLine(l.Err.Error(), 300)) + ".")
		}
	}
	for _, t := range u.manager.catalogue.Tools(u.server.Name) {
		if status := byName[t.Name]; status != nil && status.Decision == policy.Offered {
			status.Photon = t.Photon.Name()
			if t.Unchecked != nil {
				status.Reason = "Beam does not check its arguments, only the server does: " + policy.CleanLine(t.Unchecked.Error(), 200) + "."
			}
		}
	}
	u.mu.Lock()
	u.tools, u.collisions = tools, collisionsAmong(left)
	u.mu.Unlock()
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
func (u *Upstream) listOthers(ctx context.Context, s *client.Session) {
	capabilities := s.Server().Capabilities
	for _, l := range []catalogue.List{catalogue.Resources, catalogue.Templates, catalogue.Prompts} {
		if rawjson.Member(capabilities, l.Capability()) == nil {
			u.manager.catalogue.SetList(u.server.Name, l, nil)
			continue
		}
		items, err := s.List(ctx, string(l), l.Member(), maxListed)
		var refused *message.Error
		switch {
		case errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND:
			continue // many servers have resources, but no templates
		case err != nil:
			u.recordError(fmt.Errorf("%s: %w", l, err))
			continue
		}
		for n, left := range u.manager.catalogue.SetList(u.server.Name, l, items) {
			if n == maxReportedItems {
				break
			}
			u.recordError(fmt.Errorf("%q of %s is left out: %w", left.Name, l, left.Err))
		}
	}
	if s.IsModern() { // which has no such requests
		return
	}
	for _, uri := range u.manager.catalogue.Subscribed(u.server.Name) {
		if _, err := s.Request(ctx, "resources/subscribe", map[string]any{"uri": uri}); err != nil {
			u.recordError(fmt.Errorf("subscribing to %q: %w", uri, err))
		}
	}
}

// maxReportedItems is how many items of one list are reported that are left out.
const maxReportedItems = 5
