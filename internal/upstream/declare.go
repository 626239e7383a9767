package upstream

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// abilities returns what somebody can be asked for an upstream with a policy.
func (m *Manager) abilities(p *policy.Policy) clientsession.Abilities {
	isElicited, models := p.Elicitation().Enabled, m.options.SamplingAvailable
	return clientsession.Abilities{
		Forms: isElicited, URLs: isElicited, Sampling: models, SamplingTools: models, Roots: m.options.RootsAvailable,
	}
}

// encodeCapabilities returns abilities as the capabilities of a client (MCP,
// ClientCapabilities).
func encodeCapabilities(a clientsession.Abilities) json.RawMessage {
	type object = map[string]any
	capabilities := object{}
	elicitation := object{}
	if a.Forms {
		elicitation["form"] = object{}
	}
	if a.URLs {
		elicitation["url"] = object{}
	}
	if len(elicitation) > 0 {
		capabilities["elicitation"] = elicitation
	}
	if a.Sampling {
		sampling := object{}
		if a.SamplingTools {
			sampling["tools"] = object{}
		}
		capabilities["sampling"] = sampling
	}
	if a.Roots {
		capabilities["roots"] = object{}
	}
	return message.Compacted(capabilities)
}

// checkDeclared returns the refusal of a request that the upstream was told nobody can be
// asked; nil if it may be.
func checkDeclared(r *client.ServerRequest, a clientsession.Abilities) *refusal {
	nobody := func(of string) *refusal {
		return refusef(policy.AskNobody, mcp.METHOD_NOT_FOUND, "nobody can be asked: the client of this call has not declared %s", of)
	}
	undeclared := func(what string) *refusal {
		return invalidf("the client of this call has not declared %s", what)
	}
	switch r.Method {
	case string(mcp.MethodElicitationCreate):
		mode, _ := rawjson.DecodeText(rawjson.Member(r.Params, "mode"))
		switch {
		case !a.Forms && !a.URLs:
			return nobody("elicitation")
		case mode == "url" && !a.URLs:
			return undeclared("the elicitation mode url")
		case mode != "url" && !a.Forms:
			return undeclared("the elicitation mode form")
		}
	case string(mcp.MethodSamplingCreateMessage):
		switch {
		case !a.Sampling:
			return nobody("sampling")
		case !a.SamplingTools && rawjson.Member(r.Params, "tools") != nil:
			return undeclared("sampling with tools")
		}
	case string(mcp.MethodListRoots):
		if !a.Roots {
			return nobody("roots")
		}
	}
	return nil
}
