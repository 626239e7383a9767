package message_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// artifactSource has artifacts, whose ordinals are their positions.
type artifactSource []generators.Event

func (artifactSource) PageBaseURL() (string, error) { return "http://b", nil }

func (artifactSource) ApprovedSample(string) (*ask.SampleRequest, error)     { return nil, nil }
func (artifactSource) OpenResult(*runlog.Finished) (io.ReadCloser, error)    { return nil, nil }
func (artifactSource) Content(end *runlog.Finished) (json.RawMessage, error) { return end.Content, nil }

func (s artifactSource) OpenArtifact(_ context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error) {
	return s[seq-1].(*generators.Artifact), nil, nil
}

func returning[Out any](name string) *generators.Photon {
	return generators.New(name, func(context.Context, struct{}, generators.Yield) (out Out, err error) { return out, nil }, nil)
}

// Structured content has the essentials of artifacts, as far as it is an object that may
// have another member, and conforms to the schema that the tool has.
func TestStructuredContentHasEssentialsOfArtifacts(t *testing.T) {
	artifacts := artifactSource{
		generators.Markdown("Report", "# Well\x1b[31m\n"),
		generators.TableOf("Rows", generators.Table{Columns: []string{"a", "b"}, Rows: [][]any{{1, "x"}, {2, "y"}}}),
		generators.Image("Picture", "image/png", []byte("\x89PNG")),
		generators.Code("long.sql", "sql", strings.Repeat("DROP TABLE a;\n", 1000)),
		generators.Code("late.sql", "sql", strings.Repeat("x", 100)),
	}
	const summaries = `"artifacts":[{"title":"Report","mediaType":"text/markdown","text":"# Well","uri":"beam://runs/r/artifacts/1"},` +
		`{"title":"Rows","mediaType":"application/vnd.beam.table+json","text":"a | b\n1 | x\n2 | y","uri":"beam://runs/r/artifacts/2"},` +
		`{"title":"Picture","mediaType":"image/png","uri":"beam://runs/r/artifacts/3"},` +
		`{"title":"long.sql","mediaType":"text/x-sql","text":"DROP TABLE a;\nDROP`
	type report struct {
		OK bool `json:"ok"`
	}
	type taken struct {
		Artifacts int `json:"artifacts"`
	}
	for _, tt := range []struct {
		version, result string
		photon          *generators.Photon
		want            string // beginning of the structured content
	}{
		{mcp.ProtocolVersion20251125, `{"ok":true}`, returning[report]("object"), `{"ok":true,` + summaries},
		{mcp.ProtocolVersion20260728, `{"ok":true}`, returning[report]("object"), `{"ok":true,` + summaries},
		{mcp.ProtocolVersion20251125, `{}`, returning[struct{}]("empty"), `{` + summaries},
		{mcp.ProtocolVersion20251125, `"text"`, returning[string]("wrapped"), `{"result":"text",` + summaries},
		{mcp.ProtocolVersion20251125, `{"any":1}`, returning[any]("any"), `{"any":1,` + summaries},
		{mcp.ProtocolVersion20260728, `"text"`, returning[string]("plain"), `"text"`},
		{mcp.ProtocolVersion20251125, `{"artifacts":3}`, returning[taken]("taken"), `{"artifacts":3}`},
		{mcp.ProtocolVersion20251125, `{"a":1}`, returning[map[string]int]("map"), `{"a":1}`},
	} {
		c := message.Client{Version: tt.version, LogLevel: message.NoLogging}
		tr := &message.Translator{Client: &c, Photon: tt.photon, RunID: "r", Source: artifacts}
		var s message.State
		for i, a := range artifacts {
			if _, err := tr.Notification(&s, encode(t, a, uint64(i+1))); err != nil {
				t.Fatal(err)
			}
		}
		r, err := tr.Result(t.Context(), &s, runlog.Finished{Status: runlog.Completed, Result: json.RawMessage(tt.result)})
		if err != nil {
			t.Fatal(err)
		}
		got := string(r.Structured)
		if !strings.HasPrefix(got, tt.want) || !strings.Contains(tt.want, "Report") && got != tt.want || len(got) > 6<<10 {
			t.Errorf("%s, %s: %s, want %s", tt.photon.Name(), tt.version, got, tt.want)
		}
		if strings.Contains(tt.want, "Report") && (!strings.Contains(got, `"omittedLines":7`) || !strings.HasSuffix(got, `{"title":"late.sql","mediaType":"text/x-sql","omittedLines":1,"uri":"beam://runs/r/artifacts/5"}]}`)) {
			t.Errorf("%s, %s: ends with %s", tt.photon.Name(), tt.version, got[max(0, len(got)-300):])
		}
		if raw := message.OutputSchema(tt.photon, &c); raw != nil {
			schema, err := generators.ParseSchema(raw)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(r.Structured); err != nil {
				t.Errorf("%s, %s: %s doesn't conform to %s: %v", tt.photon.Name(), tt.version, got, raw, err)
			}
		}
	}
}
