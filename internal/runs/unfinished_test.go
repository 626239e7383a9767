package runs_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runs"
)

// A stream of runs that is cut off, or is something else, is an error, and not taken for all runs.
func TestReadUnfinishedRuns(t *testing.T) {
	const run = `{"run":"a","entries":[]}` + "\n"
	for stream, want := range map[string]string{
		"":                                  "these are not the runs of a Beam",
		"<html":                             "these are not the runs of a Beam",
		run:                                 "these are not the runs of a Beam",
		`{"total":2}` + "\n" + run:          "the runs are cut off",
		`{"total":1}` + "\n" + run + "{}\n": "the runs are cut off",
		`{"total":1}` + "\n" + run + `{"run":"b","entr`:       "the runs are cut off",
		`{"total":1}` + "\n" + run + `{"complete":true}`:      "",
		`{"total":0}` + "\n" + `{"complete":true}` + "\nmore": "",
	} {
		_, unfinished, err := runs.ReadUnfinishedRuns(strings.NewReader(stream))
		if err == nil {
			for _, e := range unfinished {
				err = e
			}
		}
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", stream, err, want)
		}
	}
}
