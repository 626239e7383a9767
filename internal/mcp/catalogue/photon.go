package catalogue

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/toolresult"
)

// A Request is a request to an upstream.
type Request struct {
	Method string
	Params json.RawMessage
	Tool   json.RawMessage // the definition of the tool that tools/call calls
}

// A CallFunc sends a request to an upstream for a run and returns the result. Meanwhile,
// it yields what the upstream reports, and asks what the upstream asks. If ctx ends, it
// cancels the request. An error response of the upstream is a [*message.Error], which
// the error wraps.
type CallFunc func(ctx context.Context, yield generators.Yield, r Request) (json.RawMessage, error)

// A Tool is an upstream's tool.
type Tool struct {
	Server string
	Name   string // the tool's own
	// Unchecked says why Beam can't check arguments by the tool's schema, so that only
	// the upstream does; nil if Beam checks them.
	Unchecked error
	Photon    *generators.Photon
}

// newTool returns the tool of a definition, with its photon. The error says why the tool
// can't be offered.
func newTool(c *Catalogue, s *Source, raw json.RawMessage) (*Tool, error) {
	d, err := parseDefinition(raw)
	t := &Tool{Server: s.Name, Name: d.Name}
	if err != nil {
		return t, err
	}
	own := raw
	raw = message.WithoutOurMeta(d.completed(raw))
	input, unchecked := d.inputSchema()
	t.Unchecked = unchecked
	options := d.options(s.Name, raw)
	if s.Configure != nil {
		s.Configure(d.Name, options)
	}
	t.Photon = generators.FromSchema(JoinName(s.Name, d.Name), input, nil, t.runFunc(c, s, own), options)
	_, err = registry.NewRegistry(t.Photon) // which says if the photon is invalid
	return t, err
}

// runFunc returns the function of the tool's photon. Own is the definition as the
// upstream gave it.
func (t *Tool) runFunc(c *Catalogue, s *Source, own json.RawMessage) generators.Func[json.RawMessage, json.RawMessage] {
	name := rawjson.EncodeText(t.Name)
	return func(ctx context.Context, args json.RawMessage, yield generators.Yield) (json.RawMessage, error) {
		params := fmt.Appendf(nil, `{"name":%s,"arguments":%s}`, name, args)
		raw, err := s.Call(ctx, yield, Request{Method: "tools/call", Params: params, Tool: own})
		if err != nil {
			return nil, toolresult.WithQuestion(ctx, err)
		}
		result, err := parseResult(raw)
		if err != nil {
			return nil, err
		}
		c.noteResources(s.Name, result.Content)
		if s.Unkept {
			toolresult.RecordUnkept(ctx, raw)
			return s.describeUnkept(raw), toolresult.WithQuestion(ctx, result.errorUnkept())
		}
		toolresult.Record(ctx, raw)
		value, mediaType, err := result.show(yield)
		toolresult.RecordMediaType(ctx, mediaType)
		return value, toolresult.WithQuestion(ctx, err)
	}
}

// describeUnkept returns what the log has in place of a result that isn't recorded.
func (s *Source) describeUnkept(result json.RawMessage) json.RawMessage {
	if s.Describe == nil {
		return nil
	}
	return s.Describe(result)
}

// errorUnkept returns the error of a failed run whose result isn't recorded.
func (r *toolResult) errorUnkept() error {
	if !r.IsError {
		return nil
	}
	return fmt.Errorf("the tool reported an error, which is not recorded")
}
