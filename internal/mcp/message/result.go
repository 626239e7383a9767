package message

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
)

// ResultBase is what every result of 2026-07-28 has beside its own members.
type ResultBase struct {
	Type string         `json:"resultType,omitempty"`
	Meta map[string]any `json:"_meta,omitempty"`
}

// NewResultBase returns the base of a result for a client, which is empty before
// 2026-07-28.
func NewResultBase(c *Client, resultType string, server mcp.Implementation) ResultBase {
	if !c.IsModern() {
		return ResultBase{}
	}
	return ResultBase{Type: resultType, Meta: map[string]any{mcp.MetaKeyServerInfo: server}}
}

// ToolResult is the result of tools/call (MCP, Tools, Calling Tools).
type ToolResult struct {
	ResultBase
	Content    []ContentBlock  `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`

	// content is the result of another server's tool, for its client. Of the other
	// members, the result then has only those of ResultBase.
	content json.RawMessage
	// large is the value of the result, if it is streamed; nil if it isn't.
	large *LargeResult
}

// ErrorResult returns a result that describes to the model what went wrong.
func ErrorResult(text string) *ToolResult {
	return &ToolResult{Content: []ContentBlock{TextBlock(text)}, IsError: true}
}

// InvalidArgumentsResult returns a result that lists the invalid arguments.
func InvalidArgumentsResult(photon string, err *generators.InvalidError) *ToolResult {
	var b strings.Builder
	fmt.Fprintf(&b, "The arguments for %s are not valid:", photon)
	for _, f := range err.Fields {
		b.WriteString("\n- " + driver.Sentence(f, ""))
	}
	return ErrorResult(b.String())
}

// Result returns the end of a run as the result of its call: the result that another
// server gave, or the artifacts of the entries translated with s, then the value. What is
// damaged says so.
func (t *Translator) Result(ctx context.Context, s *State, end runlog.Finished) (*ToolResult, error) {
	r, err := t.buildResult(ctx, s, end)
	var damaged *runlog.DamagedError
	if errors.As(err, &damaged) {
		r, err = ErrorResult(damaged.Error()), nil
		r.ResultBase = t.annotations(end)
	}
	return r, err
}

func (t *Translator) buildResult(ctx context.Context, s *State, end runlog.Finished) (*ToolResult, error) {
	content, err := t.Source.Content(&end)
	if err != nil {
		return nil, err
	}
	r := &ToolResult{ResultBase: t.annotations(end)}
	if content != nil {
		r.content = t.adaptContent(content)
		return r, nil
	}
	artifacts, summaries, err := t.artifactBlocks(ctx, s.artifacts)
	if err != nil {
		return nil, err
	}
	r.Content = artifacts
	if outcome.Of(&end).IsError {
		r.IsError, r.Content = true, append(artifacts, TextBlock(cleantext.Text(outcome.TextForModel(&end))))
		return r, nil
	}
	if end.ResultBlob != "" {
		return r, t.addLargeResult(r, &end)
	}
	if text := resultText(end); text != "" {
		r.Content = append(r.Content, TextBlock(text))
	}
	r.Structured = summaries.addTo(structuredContent(t.Photon, t.Client, end.Result), t.Photon, t.Client)
	return r, nil
}

// annotations returns what a result says of the run's end to a client that knows Beam.
func (t *Translator) annotations(end runlog.Finished) (base ResultBase) {
	if !t.Annotated {
		return base
	}
	base.Meta = map[string]any{"beam/status": end.Status}
	if reason := end.Reason(); reason != "" {
		base.Meta["beam/reason"] = reason
	}
	return base
}

// resultText returns the result for people; empty if it has nothing to say.
func resultText(end runlog.Finished) string {
	if bytes.Equal(end.Result, Null) || bytes.Equal(end.Result, []byte("{}")) {
		return ""
	}
	return end.ResultText()
}
