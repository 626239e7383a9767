// Package csv has the photon explore_csv, which describes a CSV file, asks how to
// summarize it, and summarizes it.
//
// It reads the file twice, as a stream. The memory it uses is bounded by the
// longest record, the number of columns and the number of groups.
package csv

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// Photon asks for a CSV file and how to summarize it.
var Photon = generators.New("explore_csv", summarizeFile, &generators.Options{
	Title:       "Explore a CSV file",
	Description: "Asks for a CSV file, shows its columns and first rows, and counts, adds up or compares the columns you choose, in groups if you like. The file stays on this machine.",
	ReadOnly:    true,
	Idempotent:  true,
	Forms:       []func() error{ask.Fits[Choice]},
})

const (
	maxSize    = 256 << 20 // of a file, in bytes
	maxRecord  = 1 << 20   // of one record, in bytes
	maxColumns = 500       // that are analyzed; further columns are only counted
	maxGroups  = 1000      // the rows of further groups are summarized together
)

// A Choice is the answer to how the file should be summarized. The columns to
// choose from are those of the file.
type Choice struct {
	Columns []string `json:"columns" title:"Columns" description:"The columns to summarize, 1 to 20" minItems:"1" maxItems:"20"`
	Summary string   `json:"summary" title:"Summary" enum:"count,sum,mean,min,max" enumTitles:"Count of filled cells,Sum,Mean,Smallest,Largest"`
	GroupBy string   `json:"groupBy,omitempty" title:"Group by" description:"Leave blank for one value over all rows"`
}

// A Summary is the photon's result.
type Summary struct {
	File    string `json:"file"`
	Rows    int    `json:"rows"`    // in the file, not counting the column names
	Columns int    `json:"columns"` // in the file
	Summary string `json:"summary,omitempty"`
	GroupBy string `json:"groupBy,omitempty"`
	// Values are sorted by group, and within a group in the order of the columns.
	Values   []Value  `json:"values"`
	Warnings []string `json:"warnings,omitempty"`
}

// A Value is the summary of a column, over all rows or over the rows of a group.
type Value struct {
	Group  string `json:"group,omitempty"`
	Column string `json:"column"`
	// Value is a number, or a string if it is the smallest or largest of a column
	// of dates, or null if the column has nothing to summarize.
	Value any `json:"value"`
}

func summarizeFile(ctx context.Context, _ struct{}, yield generators.Yield) (Summary, error) {
	handle, err := ask.File(yield, "file", "Which CSV file should be summarized?", ask.MaxSize(maxSize),
		ask.Accepting(".csv", ".tsv", ".txt", "text/csv", "text/tab-separated-values", "text/plain"))
	if err != nil {
		return Summary{}, err
	}
	f := &file{Handle: handle, ctx: ctx, yield: yield}
	found, err := f.scanFile()
	if err != nil {
		return Summary{}, f.withFileName(err)
	}
	warnings := found.showInfo(yield, f.name())
	result := Summary{File: f.name(), Rows: found.rows, Columns: found.width(), Values: []Value{}, Warnings: warnings}
	if found.rows == 0 {
		return result, nil
	}
	chosen, err := askChoice(yield, found)
	if err != nil {
		return Summary{}, err
	}
	totals, err := f.summarize(found, chosen)
	if err != nil {
		return Summary{}, f.withFileName(err)
	}
	result.Summary, result.GroupBy = chosen.Summary, chosen.GroupBy
	result.Values = totals.values()
	result.Warnings = append(result.Warnings, totals.showSummary(yield)...)
	return result, nil
}

// askChoice asks how to summarize the file. The form is prefilled with the sum of
// the first numeric columns or, if there are none, with a count.
func askChoice(yield generators.Yield, found *tableInfo) (Choice, error) {
	var names, numeric []string
	for _, c := range found.columns {
		names = append(names, c.name)
		if c.kind().numeric() && len(numeric) < 5 {
			numeric = append(numeric, c.name)
		}
	}
	preset, summary := numeric, "sum"
	if len(numeric) == 0 {
		preset, summary = names[:1], "count"
	}
	columns := ask.Choices(names...)
	return ask.Form[Choice](yield, "summary", fmt.Sprintf("How should the %s be summarized?", humanize.Count(found.rows, "row")),
		ask.Choose("columns", columns...), ask.Preset("columns", preset), ask.Preset("summary", summary),
		ask.Choose("groupBy", columns...))
}
