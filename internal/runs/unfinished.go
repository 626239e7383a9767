package runs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/photon-beam/beam/internal/engine"
)

// The runs that another program is to rehearse are JSON values: how many there are, the runs, and
// at last that this is all.
type unfinishedRunsLine struct {
	Total *int `json:"total,omitempty"` // about
	*engine.UnfinishedRun
	Complete bool `json:"complete,omitempty"`
}

// WriteUnfinishedRuns writes the runs of an engine, as [ReadUnfinishedRuns] reads them. secrets says
// whether they have the contents of secret answers.
func WriteUnfinishedRuns(ctx context.Context, w io.Writer, e *engine.Engine, secrets bool) error {
	counts, err := e.Counts()
	if err != nil {
		return err
	}
	total := 0
	for state, n := range counts.Runs {
		if !state.Ended() {
			total += n
		}
	}
	return writeRuns(w, total, e.UnfinishedRuns(ctx, secrets))
}

func writeRuns(w io.Writer, total int, runs iter.Seq2[engine.UnfinishedRun, error]) error {
	b := bufio.NewWriterSize(w, 64<<10)
	e := json.NewEncoder(b)
	err := e.Encode(unfinishedRunsLine{Total: &total})
	for run, runErr := range runs {
		if err = errors.Join(err, runErr); err != nil {
			return err
		}
		err = e.Encode(unfinishedRunsLine{UnfinishedRun: &run})
	}
	if err == nil {
		err = e.Encode(unfinishedRunsLine{Complete: true})
	}
	return errors.Join(err, b.Flush())
}

// ReadUnfinishedRuns reads how many runs there are about, and returns them. Their error is that
// they are cut off, or the reader's.
func ReadUnfinishedRuns(r io.Reader) (total int, runs iter.Seq2[engine.UnfinishedRun, error], err error) {
	d := json.NewDecoder(bufio.NewReaderSize(r, 64<<10))
	var first unfinishedRunsLine
	if err := d.Decode(&first); err != nil || first.Total == nil {
		return 0, nil, fmt.Errorf("these are no runs: %w", errors.Join(err))
	}
	return *first.Total, func(yield func(engine.UnfinishedRun, error) bool) {
		for {
			var line unfinishedRunsLine
			err := d.Decode(&line)
			switch {
			case err == nil && line.Complete:
				return
			case err != nil || line.UnfinishedRun == nil:
				yield(engine.UnfinishedRun{}, fmt.Errorf("the runs are cut off: %w", errors.Join(err)))
				return
			case !yield(*line.UnfinishedRun, nil):
				return
			}
		}
	}, nil
}
