package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// toolResult is the result of tools/call (MCP, Tools, Calling Tools).
type toolResult struct {
	envelope
	Content    []content       `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
}

// content is a content block.
type content struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"`
	MimeType string    `json:"mimeType,omitempty"`
	Resource *resource `json:"resource,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Size     int64     `json:"size,omitempty"`
}

type resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

func text(s string) content { return content{Type: "text", Text: &s} }

// toolError is a result that tells the model what went wrong, so that it can
// do better.
func toolError(s string) *toolResult { return &toolResult{Content: []content{text(s)}, IsError: true} }

// invalidArguments tells the model every argument that is wrong.
func invalidArguments(photon string, err *generators.InvalidError) *toolResult {
	var b strings.Builder
	fmt.Fprintf(&b, "The arguments for %s are not valid:", photon)
	for _, f := range err.Fields {
		b.WriteString("\n- ")
		if f.Path != "" {
			b.WriteString(f.Path + ": ")
		}
		b.WriteString(f.Message)
	}
	return toolError(b.String())
}

// maxInline bounds the artifacts that travel within a result, in bytes
// altogether. What is beyond it becomes a link to Beam's page.
const maxInline = 4 << 20

// result is a run's end as the result of its call: the artifacts, then the
// value.
func (f *follower) result(ctx context.Context, end log.Finished) (*toolResult, error) {
	artifacts, err := f.artifacts(ctx)
	if err != nil {
		return nil, err
	}
	if end.Status != log.Completed {
		r := toolError(end.Error)
		r.Content = append(artifacts, r.Content...)
		return r, nil
	}
	r := &toolResult{Content: artifacts}
	if t := resultText(end); t != "" {
		r.Content = append(r.Content, text(t))
	}
	r.Structured = structured(f.photon, f.client, end.Result)
	return r, nil
}

// resultText is the result for people; empty if it says nothing.
func resultText(end log.Finished) string {
	if bytes.Equal(end.Result, null) || bytes.Equal(end.Result, []byte("{}")) {
		return ""
	}
	return end.Text()
}

// structured is the result for programs. Before 2026-07-28 it must be an
// object, so that any other value is wrapped in one.
func structured(p *generators.Photon, c *client, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	switch promised(p, c) {
	case asObject:
		return raw
	case inObject:
		return bytes.Join([][]byte{[]byte(`{"result":`), raw, []byte("}")}, nil)
	}
	if c.modern() || c.since(june2025) && (isObject(p) || raw[0] == '{') {
		return raw
	}
	return nil
}

// promise is what an output schema promises of structured results.
type promise int

const (
	nothing  promise = iota // the result can be anything
	asObject                // the result as it is, an object before 2026-07-28
	inObject                // an object with the result as its member "result"
)

func promised(p *generators.Photon, c *client) promise {
	if p.Output() == nil || !c.since(june2025) {
		return nothing
	}
	d := p.Output().Document()
	switch {
	case d.Type == "" && len(d.Types) == 0 && d.Ref == "" && len(d.AnyOf) == 0 && len(d.OneOf) == 0:
		return nothing
	case c.modern(), isObject(p):
		return asObject
	case d.Ref != "", len(d.Defs) > 0:
		return nothing // its references would point elsewhere in the wrapper
	}
	return inObject
}

func isObject(p *generators.Photon) bool {
	return p.Output() != nil && p.Output().Document().Type == "object"
}

// outputSchema is the schema of what structured returns; nil if it promises
// nothing.
func outputSchema(p *generators.Photon, c *client) json.RawMessage {
	kind := promised(p, c)
	if kind == nothing {
		return nil
	}
	raw, err := p.Output().MarshalJSON()
	switch {
	case err != nil:
		return nil
	case kind == asObject:
		return objectsOnly(raw)
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{"result":%s},"required":["result"]}`, raw)
}

// artifacts are the run's artifacts as content blocks, in order.
func (f *follower) artifacts(ctx context.Context) ([]content, error) {
	blocks := []content{}
	left := int64(maxInline)
	for _, seq := range f.made {
		a, body, err := f.server.engine.Artifact(ctx, f.client.who, f.run, seq)
		if err != nil {
			return nil, err
		}
		if left -= a.Size; left < 0 {
			if body != nil {
				body.Close()
			}
			blocks = append(blocks, f.link(a, seq))
			continue
		}
		if body != nil {
			a.Body, err = io.ReadAll(body)
			body.Close()
			if err != nil {
				return nil, err
			}
		}
		blocks = append(blocks, f.block(a, seq))
	}
	return blocks, nil
}

// block is an artifact that travels within the result.
func (c *call) block(a *generators.Artifact, seq uint64) content {
	kind, _, _ := strings.Cut(a.MediaType, "/")
	switch {
	case kind == "image", kind == "audio":
		return content{Type: kind, Data: base64.StdEncoding.EncodeToString(a.Body), MimeType: a.MediaType}
	case a.MediaType == generators.MarkdownType, a.MediaType == "text/plain" && a.URI == "":
		return text(string(a.Body))
	}
	r := &resource{URI: c.address(a, seq), MimeType: a.MediaType}
	if kind == "text" || strings.HasSuffix(a.MediaType, "json") || strings.HasSuffix(a.MediaType, "xml") {
		s := string(a.Body)
		r.Text = &s
	} else {
		r.Blob = base64.StdEncoding.EncodeToString(a.Body)
	}
	return content{Type: "resource", Resource: r}
}

// link is an artifact that is too large to travel within the result.
func (c *call) link(a *generators.Artifact, seq uint64) content {
	origin, err := c.session.pages()
	where := fmt.Sprintf("%s/runs/%s/artifacts/%d", origin, c.run, seq)
	switch {
	case err != nil:
		return text(fmt.Sprintf("%s (%s, %d bytes) is too large for this result.", a.Title, a.MediaType, a.Size))
	case !c.client.since(june2025):
		return text(fmt.Sprintf("%s (%s, %d bytes) is at %s", a.Title, a.MediaType, a.Size, where))
	}
	return content{Type: "resource_link", URI: where, Name: a.Title, MimeType: a.MediaType, Size: a.Size}
}

// address names an artifact. It need not be fetched: the block has the body.
func (c *call) address(a *generators.Artifact, seq uint64) string {
	if a.URI != "" {
		return a.URI
	}
	return fmt.Sprintf("beam://runs/%s/artifacts/%d", c.run, seq)
}
