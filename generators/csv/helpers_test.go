package csv_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/csv"
	"github.com/photon-beam/beam/generators/internal/photontest"
)

// salesCSV is an ordinary file.
const salesCSV = "date,country,amount,note\n" +
	"2026-01-05,DE,10.10,\"says \"\"hi\"\"\"\n" +
	"2026-01-06,FR,20.20,\"two\nlines\"\n" +
	"2026-01-07,DE,30.30,\n" +
	"2026-01-08,,1.5,plain\n"

// chooseColumns returns an answer to the second question.
func chooseColumns(summary, groupBy string, columns ...string) photontest.Response {
	content := map[string]any{"summary": summary, "columns": columns}
	if groupBy != "" {
		content["groupBy"] = groupBy
	}
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return photontest.Accept(string(raw))
}

// runFile runs the photon with a file of the given content. second answers the second
// question.
func runFile(t testing.TB, content string, second photontest.Response) *photontest.Outcome {
	t.Helper()
	runner := photontest.Runner{
		Script: photontest.Script{
			"file":    photontest.Upload(ask.FileRef{Name: "data.csv", MediaType: "text/csv", Size: int64(len(content)), Digest: "d"}),
			"summary": second,
		},
		Open: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
	return runner.Run(t, csv.Photon, "{}")
}

// describeValues returns the values in short form: "DE/amount=40.4 FR/amount=20.2".
func describeValues(s csv.Summary) string {
	var parts []string
	for _, v := range s.Values {
		name := v.Column
		if v.Group != "" {
			name = v.Group + "/" + name
		}
		parts = append(parts, fmt.Sprintf("%s=%v", name, v.Value))
	}
	return strings.Join(parts, " ")
}

// tables returns the tables that the photon yielded, by title.
func tables(t testing.TB, p *photontest.Outcome) map[string]generators.Table {
	return artifacts[generators.Table](t, p, generators.TableType)
}

func charts(t testing.TB, p *photontest.Outcome) map[string]generators.Chart {
	return artifacts[generators.Chart](t, p, generators.ChartType)
}

func artifacts[T any](t testing.TB, p *photontest.Outcome, mediaType string) map[string]T {
	t.Helper()
	all := map[string]T{}
	for _, e := range p.Events {
		if a, ok := e.(*generators.Artifact); ok && a.MediaType == mediaType {
			var v T
			if err := json.Unmarshal(a.Body, &v); err != nil {
				t.Fatalf("artifact %s: %v", a.Title, err)
			}
			all[a.Title] = v
		}
	}
	return all
}

// fileReply returns the reply to the first question, for tests without a Runner.
func fileReply(content string) generators.Reply {
	a := photontest.Upload(ask.FileRef{Name: "data.csv", Size: int64(len(content)), Digest: "d"}).Answer
	r := a.Reply()
	r.Open = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
	return r
}
