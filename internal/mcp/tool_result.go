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
	"github.com/photon-beam/beam/internal/runlog"
)

// toolResult is the result of tools/call (MCP, Tools, Calling Tools).
type toolResult struct {
	resultBase
	Content    []contentBlock  `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
}

// contentBlock is a content block.
type contentBlock struct {
	Type     string            `json:"type"`
	Text     *string           `json:"text,omitempty"`
	Data     string            `json:"data,omitempty"`
	MimeType string            `json:"mimeType,omitempty"`
	Resource *resourceContents `json:"resource,omitempty"`
	URI      string            `json:"uri,omitempty"`
	Name     string            `json:"name,omitempty"`
	Size     int64             `json:"size,omitempty"`
}

type resourceContents struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

func textBlock(s string) contentBlock { return contentBlock{Type: "text", Text: &s} }

// errorResult is a result that tells the model what went wrong, so that it can
// do better.
func errorResult(s string) *toolResult {
	return &toolResult{Content: []contentBlock{textBlock(s)}, IsError: true}
}

// invalidArgumentsResult tells the model every argument that is wrong.
func invalidArgumentsResult(photon string, err *generators.InvalidError) *toolResult {
	var b strings.Builder
	fmt.Fprintf(&b, "The arguments for %s are not valid:", photon)
	for _, f := range err.Fields {
		b.WriteString("\n- ")
		if f.Path != "" {
			b.WriteString(f.Path + ": ")
		}
		b.WriteString(f.Message)
	}
	return errorResult(b.String())
}

// maxInlineArtifacts bounds the artifacts that travel within a result, in bytes
// altogether. What is beyond it becomes a link to Beam's page.
const maxInlineArtifacts = 4 << 20

// buildResult is a run's end as the result of its call: the artifacts, then the
// value.
func (f *follower) buildResult(ctx context.Context, end runlog.Finished) (*toolResult, error) {
	artifacts, err := f.artifactBlocks(ctx)
	if err != nil {
		return nil, err
	}
	if end.Status != runlog.Completed {
		r := errorResult(end.Error)
		r.Content = append(artifacts, r.Content...)
		return r, nil
	}
	r := &toolResult{Content: artifacts}
	if t := resultText(end); t != "" {
		r.Content = append(r.Content, textBlock(t))
	}
	r.Structured = structuredContent(f.photon, f.client, end.Result)
	return r, nil
}

// resultText is the result for people; empty if it says nothing.
func resultText(end runlog.Finished) string {
	if bytes.Equal(end.Result, jsonNull) || bytes.Equal(end.Result, []byte("{}")) {
		return ""
	}
	return end.ResultText()
}

// structuredContent is the result for programs. Before 2026-07-28 it must be an
// object, so that any other value is wrapped in one.
func structuredContent(p *generators.Photon, c *client, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	switch structuredShapeOf(p, c) {
	case shapeUnwrapped:
		return raw
	case shapeWrapped:
		return bytes.Join([][]byte{[]byte(`{"result":`), raw, []byte("}")}, nil)
	}
	if c.isModern() || c.versionAtLeast(version20250618) && (returnsObject(p) || raw[0] == '{') {
		return raw
	}
	return nil
}

// structuredShape is what an output schema promises of structured results.
type structuredShape int

const (
	shapeAny       structuredShape = iota // the result can be anything
	shapeUnwrapped                        // the result as it is, an object before 2026-07-28
	shapeWrapped                          // an object with the result as its member "result"
)

func structuredShapeOf(p *generators.Photon, c *client) structuredShape {
	if p.Output() == nil || !c.versionAtLeast(version20250618) {
		return shapeAny
	}
	d := p.Output().Document()
	switch {
	case d.Type == "" && len(d.Types) == 0 && d.Ref == "" && len(d.AnyOf) == 0 && len(d.OneOf) == 0:
		return shapeAny
	case c.isModern(), returnsObject(p):
		return shapeUnwrapped
	case d.Ref != "", len(d.Defs) > 0:
		return shapeAny // its references would point elsewhere in the wrapper
	}
	return shapeWrapped
}

func returnsObject(p *generators.Photon) bool {
	return p.Output() != nil && p.Output().Document().Type == "object"
}

// outputSchema is the schema of what structured returns; nil if it promises
// nothing.
func outputSchema(p *generators.Photon, c *client) json.RawMessage {
	kind := structuredShapeOf(p, c)
	if kind == shapeAny {
		return nil
	}
	raw, err := p.Output().MarshalJSON()
	switch {
	case err != nil:
		return nil
	case kind == shapeUnwrapped:
		return writePropertiesAsObjects(raw)
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{"result":%s},"required":["result"]}`, raw)
}

// artifactBlocks are the run's artifacts as content blocks, in order.
func (f *follower) artifactBlocks(ctx context.Context) ([]contentBlock, error) {
	blocks := []contentBlock{}
	left := int64(maxInlineArtifacts)
	for _, seq := range f.artifactSeqs {
		a, body, err := f.server.engine.OpenArtifact(ctx, f.client.caller, f.runID, seq)
		if err != nil {
			return nil, err
		}
		if left -= a.Size; left < 0 {
			if body != nil {
				body.Close()
			}
			blocks = append(blocks, f.artifactLink(a, seq))
			continue
		}
		if body != nil {
			a.Body, err = io.ReadAll(body)
			body.Close()
			if err != nil {
				return nil, err
			}
		}
		blocks = append(blocks, f.artifactBlock(a, seq))
	}
	return blocks, nil
}

// artifactBlock is an artifact that travels within the result.
func (c *call) artifactBlock(a *generators.Artifact, seq uint64) contentBlock {
	kind, _, _ := strings.Cut(a.MediaType, "/")
	switch {
	case kind == "image", kind == "audio":
		return contentBlock{Type: kind, Data: base64.StdEncoding.EncodeToString(a.Body), MimeType: a.MediaType}
	case a.MediaType == generators.MarkdownType, a.MediaType == "text/plain" && a.URI == "":
		return textBlock(string(a.Body))
	}
	r := &resourceContents{URI: c.artifactURI(a, seq), MimeType: a.MediaType}
	if kind == "text" || strings.HasSuffix(a.MediaType, "json") || strings.HasSuffix(a.MediaType, "xml") {
		s := string(a.Body)
		r.Text = &s
	} else {
		r.Blob = base64.StdEncoding.EncodeToString(a.Body)
	}
	return contentBlock{Type: "resource", Resource: r}
}

// artifactLink is an artifact that is too large to travel within the result.
func (c *call) artifactLink(a *generators.Artifact, seq uint64) contentBlock {
	origin, err := c.session.pageBaseURL()
	where := fmt.Sprintf("%s/runs/%s/artifacts/%d", origin, c.runID, seq)
	switch {
	case err != nil:
		return textBlock(fmt.Sprintf("%s (%s, %d bytes) is too large for this result.", a.Title, a.MediaType, a.Size))
	case !c.client.versionAtLeast(version20250618):
		return textBlock(fmt.Sprintf("%s (%s, %d bytes) is at %s", a.Title, a.MediaType, a.Size, where))
	}
	return contentBlock{Type: "resource_link", URI: where, Name: a.Title, MimeType: a.MediaType, Size: a.Size}
}

// artifactURI names an artifact. It need not be fetched: the block has the body.
func (c *call) artifactURI(a *generators.Artifact, seq uint64) string {
	if a.URI != "" {
		return a.URI
	}
	return fmt.Sprintf("beam://runs/%s/artifacts/%d", c.runID, seq)
}
