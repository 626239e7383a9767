package csv_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/csv"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// salesCSV is an ordinary file.
const salesCSV = "date,country,amount,note\n" +
	"2026-01-05,DE,10.10,\"says \"\"hi\"\"\"\n" +
	"2026-01-06,FR,20.20,\"two\nlines\"\n" +
	"2026-01-07,DE,30.30,\n" +
	"2026-01-08,,1.5,plain\n"

// chooseColumns answers the question for a view.
func chooseColumns(summary, groupBy string, columns ...string) beamtest.Response {
	return beamtest.Accept(csv.Choice{Columns: columns, Summary: summary, GroupBy: groupBy})
}

// runFile runs the photon with a file of the given content, looks at one view and
// wants no other. Another file isn't given.
func runFile(t testing.TB, content string, view beamtest.Response) *beamtest.Outcome {
	t.Helper()
	return runScript(t, content, beamtest.Script{"view": view})
}

// runScript is runFile with the responses to more questions.
func runScript(t testing.TB, content string, script beamtest.Script) *beamtest.Outcome {
	t.Helper()
	all := beamtest.Script{"file": beamtest.Accept(newFile(content)), "file#2": beamtest.Decline(), "another": beamtest.Accept(false)}
	maps.Copy(all, script)
	return beamtest.Run(t, csv.Photon, nil, all)
}

func newFile(content string) beamtest.File {
	return beamtest.File{Name: "data.csv", MediaType: "text/csv", Content: []byte(content)}
}

// describeValues returns what the only view shows, in short form: the values over all
// rows, "amount=62.1 date=2026-01-05", or of groups, "DE/amount=40.4 FR/amount=20.2".
func describeValues(t testing.TB, p *beamtest.Outcome) string {
	t.Helper()
	var parts []string
	got := beamtest.Decode[csv.Exploration](t, p)
	title := got.Views[0].Title
	if got.Views[0].Groups == 0 {
		for _, v := range got.Views {
			parts = append(parts, fmt.Sprintf("%s=%v", v.Column, v.Value))
		}
	} else if table, ok := tables(t, p)[title]; ok {
		for _, row := range table.Rows {
			for i, name := range table.Columns[1 : len(table.Columns)-1] {
				parts = append(parts, fmt.Sprintf("%v/%s=%v", row[0], name, row[i+1]))
			}
		}
	} else {
		c := charts(t, p)[title]
		for i, label := range c.Labels {
			for _, s := range c.Series {
				parts = append(parts, fmt.Sprintf("%s/%s=%v", label, s.Name, s.Values[i]))
			}
		}
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

// runWithReplies runs the photon with replies to its questions, of which the file need
// not be in memory, and returns its result. It wants one view.
func runWithReplies(t testing.TB, file, view driver.Reply, onEvent func(generators.Event)) (result json.RawMessage, err error) {
	t.Helper()
	replies := map[string]driver.Reply{"file": file, "view": view, "another": {Err: ask.ErrDeclined}}
	for e, err := range driver.Prepare(t.Context(), csv.Photon, json.RawMessage("{}")).All {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *generators.Result:
			result = e.Value
		case *driver.Call:
			if e.Kind != driver.StepKind {
				e.Settle(replies[e.Key])
			}
		case *generators.Stepped:
		case generators.Event:
			onEvent(e)
		}
	}
	return result, nil
}

// fileReply returns the reply that uploads a file.
func fileReply(size int64, open func() (io.ReadCloser, error)) driver.Reply {
	raw, err := json.Marshal([]askdata.FileRef{{Name: "data.csv", MediaType: "text/csv", Size: size}})
	return driver.Reply{Value: raw, Err: err, Open: func(string) (io.ReadCloser, error) { return open() }}
}
