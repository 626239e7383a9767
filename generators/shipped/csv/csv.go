// Package csv has the photon explore_csv, which describes a CSV file and shows as many
// views of it as the user asks for: sums, means and so on, by group or over time.
//
// It reads the file once to describe it and once for each view, as a stream. The memory
// it uses is bounded by the longest record, the number of columns and the number of
// groups. What it has read is recorded in steps: a run that resumes doesn't read the file again.
package csv

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon asks for a CSV file and for views of it.
var Photon = generators.New("explore_csv", explore, &generators.Options{
	Title: "Explore a CSV file",
	Description: "Asks the user to upload a CSV file, and shows them its columns and as many charts as they like, which count, add up, average or compare columns, by group or over time. " +
		"Returns what each chart shows over all rows, and its largest and smallest group. The file stays in Beam.",
	ReadOnly:   true,
	Idempotent: true,
	Durable:    true,
	Forms:      []func() error{ask.Fits[Choice], ask.Fits[DatedChoice]},
	Asks:       true,
})

const (
	maxSize    = 256 << 20 // of a file, in bytes
	maxRecord  = 1 << 20   // of one record, in bytes
	maxColumns = 500       // that are analyzed; further columns are only counted
	maxGroups  = 1000      // the rows of further groups are summarized together
)

// An Exploration is the photon's result.
type Exploration struct {
	File     string   `json:"file"`
	Rows     int      `json:"rows" description:"The number of rows, without that of the column names"`
	Columns  []string `json:"columns" description:"The names of the columns"`
	Views    []View   `json:"views" description:"What the user looked at: an entry for each column of each view"`
	Warnings []string `json:"warnings,omitempty"`
}

// A View is a column as summarized in one view. Where the column has nothing to
// summarize, Value is nil.
type View struct {
	Title         string   `json:"title"`
	Column        string   `json:"column"`
	Value         any      `json:"value" description:"The summary over all rows: a number, a date, or null if there is nothing to summarize"`
	Unit          string   `json:"unit,omitempty" description:"A currency, or %"`
	Groups        int      `json:"groups,omitempty" description:"The number of groups"`
	LargestGroup  string   `json:"largestGroup,omitempty"`
	LargestValue  *float64 `json:"largestValue,omitempty"`
	SmallestGroup string   `json:"smallestGroup,omitempty"`
	SmallestValue *float64 `json:"smallestValue,omitempty"`
}

func explore(ctx context.Context, _ struct{}, yield generators.Yield) (Exploration, error) {
	f, found, err := askFile(ctx, yield)
	if err != nil {
		return Exploration{}, err
	}
	if err := found.resolveColumns(yield); err != nil {
		return Exploration{}, err
	}
	result := Exploration{File: f.name(), Rows: found.Rows, Columns: found.columnNames(), Views: []View{}}
	result.Warnings = found.showInfo(yield, f.name())
	chosen, err := askChoice(yield, found, found.firstChoice())
	for err == nil {
		var made summary
		if made, err = generators.Step(yield, "summarize", func(context.Context) (summary, error) { return f.makeSummary(found, chosen) }); err != nil {
			return Exploration{}, err
		}
		made.show(yield)
		result.Warnings = append(result.Warnings, made.Warnings...)
		result.Views = append(result.Views, made.Views...)
		if chosen, err = askAnother(yield, found, chosen, made.Digest); errors.Is(err, errDone) {
			return result, nil
		}
	}
	return Exploration{}, err
}
