package lists

import (
	"context"
	"net/url"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Bounds on what one search looks at. A page says so when it stops at one.
const (
	maxScannedRuns    = 20_000
	maxSearchedInputs = 1_000 // of runs whose inputs must be read from their logs
)

// Runs lists the runs of callers. It is safe for concurrent use.
type Runs struct {
	engine  *engine.Engine
	photons *registry.Registry
	inputs  *inputSummaries
}

// NewRuns returns the lists of an engine's runs.
func NewRuns(e *engine.Engine, photons *registry.Registry) *Runs {
	return &Runs{engine: e, photons: photons, inputs: newInputSummaries()}
}

// A RunSearch is a page of the list of runs.
type RunSearch struct {
	Filter ui.RunFilter
	Infos  []engine.Info
	Next   string // the cursor of what follows; empty at the end
	// Scanned is how many runs were looked at, if that many ended the search before its page
	// was full.
	Scanned int
	Oldest  time.Time // the start of the last of them
}

// Search returns a page of the caller's runs that match, newest first.
func (l *Runs) Search(caller generators.Caller, m *Matcher, after engine.Position, limit int) (page RunSearch, err error) {
	scanned, read := 0, 0
	var last engine.Position
	for i, err := range l.engine.RunsAfter(caller, after) {
		switch {
		case err != nil:
			return page, err
		case m.isPast(&i):
			return page, nil
		case scanned == m.MaxScanned || read == m.MaxInputs:
			page.Next, page.Scanned, page.Oldest = formatCursor(last), scanned, last.At
			return page, nil
		}
		scanned++
		matches, fromLog := l.matchRun(caller, m, &i)
		if fromLog {
			read++
		}
		switch {
		case !matches:
		case len(page.Infos) == limit:
			page.Next = formatCursor(last)
			return page, nil
		default:
			if full, err := l.engine.ListedInfo(caller, i.ID); err == nil { // with its questions; otherwise it was deleted meanwhile
				page.Infos = append(page.Infos, full)
			}
		}
		last = i.Position()
	}
	return page, nil
}

// matchRun reports whether a run matches, and whether its log had to be read for that.
func (l *Runs) matchRun(caller generators.Caller, m *Matcher, i *engine.Info) (matches, fromLog bool) {
	if !m.matches(i) || len(m.words) == 0 {
		return m.matches(i), false
	}
	input, fromLog := l.inputs.get(*i, func() (string, bool) { return l.summarizeInput(caller, *i) })
	return m.words.Match(i.ID, i.Photon, i.Title, i.Error, i.OwnerName, input), fromLog
}

// Find returns the page of the list of runs that a query describes.
func (l *Runs) Find(query url.Values, caller generators.Caller, limit int) (page RunSearch, err error) {
	filter, err := ParseFilter(query)
	if err != nil {
		return page, err
	}
	after, err := parseCursor(query)
	if err != nil {
		return page, err
	}
	page, err = l.Search(caller, NewMatcher(filter), after, limit)
	page.Filter = filter
	return page, err
}

// Page returns a page of the list as people see it.
func (l *Runs) Page(query url.Values, caller generators.Caller, list RunSearch) ui.RunsPage {
	return ui.RunsPage{
		RunFilter: list.Filter, Runs: l.Lines(caller, list.Infos), Next: list.Next, After: query.Get("after"),
		Scanned: list.Scanned, Oldest: list.Oldest, OfAll: caller.HasRole(generators.RoleOperator),
	}
}

// Lines returns runs with the summaries of their inputs.
func (l *Runs) Lines(caller generators.Caller, infos []engine.Info) []ui.RunLine {
	list := make([]ui.RunLine, len(infos))
	for i, info := range infos {
		owner := info.OwnerName
		if info.Owner == caller.ID {
			owner = ""
		}
		input, _ := l.inputs.get(info, func() (string, bool) { return l.summarizeInput(caller, info) })
		list[i] = ui.RunLine{Info: info, Owner: owner, Input: input}
	}
	return list
}

// summarizeInput summarizes a run's input or, if it has none, the first answer that is
// given early in its log, such as a file's name. It reports whether that is final.
func (l *Runs) summarizeInput(caller generators.Caller, info engine.Info) (summary string, final bool) {
	batches, err := l.engine.Read(context.Background(), caller, info.ID, 0)
	if err != nil {
		return "", false
	}
	for batch, err := range batches {
		if err != nil || len(batch) == 0 {
			break
		}
		started, err := runlog.Decode[runlog.Started](batch[0])
		if err != nil {
			break
		}
		p, _ := l.photons.Lookup(info.Photon)
		if summary = SummarizeArguments(p, started.Args); summary == "" {
			summary = summarizeFirstAnswer(info.ID, batch)
		}
		return summary, summary != "" || info.State.Ended() || len(batch) == runlog.MaxBatchEntries
	}
	return "", false
}

// RunsPerPage is how many runs a page of the list has.
const RunsPerPage = 50
