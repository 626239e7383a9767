package changes

import (
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A Subscription lists the changes that a client of the modern era subscribes to (MCP
// 2026-07-28, Subscriptions).
type Subscription struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
	Tasks     []string `json:"taskIds,omitempty"` // SEP-2663
}

// Includes reports whether the client subscribes to a change; see [NewQueue].
func (f *Subscription) Includes(method, uri string) bool {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return f.Tools
	case mcp.MethodNotificationPromptsListChanged:
		return f.Prompts
	case mcp.MethodNotificationResourcesListChanged:
		return f.Resources
	}
	return slices.Contains(f.URIs, uri)
}

// MaxResources is the maximum number of resources that a session or a subscription
// subscribes to.
const MaxResources = 1000

// ParseSubscription decodes the params of subscriptions/listen.
func ParseSubscription(m msg.Incoming) (*Subscription, *msg.Error) {
	var params struct {
		Requested *Subscription `json:"notifications"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil || params.Requested == nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "subscriptions/listen requires notifications, an object")
	}
	if len(params.Requested.URIs) > MaxResources {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "a subscription has at most %d resources", MaxResources)
	}
	return params.Requested, nil
}

// Limit returns the part of a subscription that a server with these capabilities
// supports.
func (f Subscription) Limit(supported mcp.ServerCapabilities) Subscription {
	f.Prompts = f.Prompts && supported.Prompts != nil && supported.Prompts.ListChanged
	f.Resources = f.Resources && supported.Resources != nil && supported.Resources.ListChanged
	if supported.Resources == nil || !supported.Resources.Subscribe {
		f.URIs = nil
	}
	return f
}
