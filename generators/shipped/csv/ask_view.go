package csv

import (
	"errors"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// A Choice is the answer to what a view should show. The columns to choose from are
// those of the file.
type Choice struct {
	Columns []string `json:"columns" title:"Columns" description:"The columns to summarize" minItems:"1" maxItems:"20"`
	Summary string   `json:"summary" title:"Summary" enum:"count,sum,mean,min,max" enumTitles:"Count of filled cells,Sum,Mean,Smallest,Largest"`
	GroupBy string   `json:"groupBy,omitempty" title:"Group by" description:"Leave blank for one value over all rows"`
}

// A DatedChoice is the Choice for a file that has dates.
type DatedChoice struct {
	Choice
	Period string `json:"period,omitempty" title:"Period" description:"If you group by dates: what to combine. Leave blank for what fits a chart" enum:"day,week,month,quarter,year" enumTitles:"Days,Weeks,Months,Quarters,Years"`
}

// firstChoice returns the first view to offer: the sum of the first numeric columns or,
// if there are none, a count.
func (s *tableInfo) firstChoice() DatedChoice {
	var numeric []string
	for i := range s.Columns {
		if s.Columns[i].kind.numeric() && len(numeric) < 5 {
			numeric = append(numeric, s.Columns[i].Name)
		}
	}
	if len(numeric) == 0 {
		return DatedChoice{Choice: Choice{Columns: s.columnNames()[:1], Summary: "count"}}
	}
	return DatedChoice{Choice: Choice{Columns: numeric, Summary: "sum"}}
}

// askChoice asks what a view should show. The form is filled in with preset.
func askChoice(yield generators.Yield, found *tableInfo, preset DatedChoice) (DatedChoice, error) {
	columns := ask.Choices(found.columnNames()...)
	message := fmt.Sprintf("How should the %s be summarized?", humanize.Count(found.Rows, "row"))
	options := []ask.Option{ask.Choose("columns", columns...), ask.Choose("groupBy", columns...),
		ask.Preset("columns", preset.Columns), ask.Preset("summary", preset.Summary)}
	if preset.GroupBy != "" {
		options = append(options, ask.Preset("groupBy", preset.GroupBy))
	}
	if !found.hasDates() {
		chosen, err := ask.Form[Choice](yield, "view", message, options...)
		return DatedChoice{Choice: chosen}, err
	}
	if preset.Period != "" {
		options = append(options, ask.Preset("period", preset.Period))
	}
	return ask.Form[DatedChoice](yield, "view", message, options...)
}

// errDone means that the user wants no further view.
var errDone = errors.New("no further view is wanted")

// askAnother asks for another view after the last one. Who declines or dismisses the
// question has seen what they wanted: the error is errDone, as it is for "Done".
func askAnother(yield generators.Yield, found *tableInfo, last DatedChoice, digest string) (DatedChoice, error) {
	more, err := ask.Confirm(yield, "another", digest+"\n\nDo you want another view of the file?", ask.Title("Another view"), ask.Verbs("Another view", "Done"))
	if err == nil && more {
		var chosen DatedChoice
		if chosen, err = askChoice(yield, found, last); err == nil {
			return chosen, nil
		}
	}
	if err == nil || errors.Is(err, ask.ErrDeclined) || errors.Is(err, ask.ErrCancelled) {
		err = errDone
	}
	return DatedChoice{}, err
}
