package csv_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/csv"
)

// salesCSV is an ordinary file.
const salesCSV = "date,country,amount,note\n" +
	"2026-01-05,DE,10.10,\"says \"\"hi\"\"\"\n" +
	"2026-01-06,FR,20.20,\"two\nlines\"\n" +
	"2026-01-07,DE,30.30,\n" +
	"2026-01-08,,1.5,plain\n"

// chooseColumns answers the second question.
func chooseColumns(summary, groupBy string, columns ...string) beamtest.Response {
	return beamtest.Accept(csv.Choice{Columns: columns, Summary: summary, GroupBy: groupBy})
}

// runFile runs the photon with a file of the given content. second answers the second
// question.
func runFile(t testing.TB, content string, second beamtest.Response) *beamtest.Outcome {
	t.Helper()
	file := beamtest.File{Name: "data.csv", MediaType: "text/csv", Content: []byte(content)}
	return beamtest.Run(t, csv.Photon, nil, beamtest.Script{"file": beamtest.Accept(file), "summary": second})
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
func tables(t testing.TB, p *beamtest.Outcome) map[string]generators.Table {
	return artifacts[generators.Table](t, p, generators.TableType)
}

func charts(t testing.TB, p *beamtest.Outcome) map[string]generators.Chart {
	return artifacts[generators.Chart](t, p, generators.ChartType)
}

func artifacts[T any](t testing.TB, p *beamtest.Outcome, mediaType string) map[string]T {
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

// runWithReplies runs the photon with replies to its two questions, of which the file
// need not be in memory, and returns its result.
func runWithReplies(t testing.TB, file, second generators.Reply, onEvent func(generators.Event)) (result json.RawMessage, err error) {
	t.Helper()
	for e, err := range csv.Photon.Run(t.Context(), json.RawMessage("{}")) {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *generators.Result:
			result = e.Value
		case *generators.Call:
			e.Settle(map[string]generators.Reply{"file": file, "summary": second}[e.Key])
		default:
			onEvent(e)
		}
	}
	return result, nil
}

// fileReply returns the reply that uploads a file.
func fileReply(size int64, open func() (io.ReadCloser, error)) generators.Reply {
	raw, err := json.Marshal([]ask.FileRef{{Name: "data.csv", MediaType: "text/csv", Size: size}})
	return generators.Reply{Value: raw, Err: err, Open: func(string) (io.ReadCloser, error) { return open() }}
}
