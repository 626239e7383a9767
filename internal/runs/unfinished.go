package runs

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/rehearsal"
)

// The runs that another program is to rehearse are JSON values: how many there are, the runs, and
// at last that this is all.
type unfinishedRunsLine struct {
	Total *int `json:"total,omitempty"` // about
	*rehearsal.UnfinishedRun
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

func writeRuns(w io.Writer, total int, runs iter.Seq2[rehearsal.UnfinishedRun, error]) error {
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

// MaxUnfinishedRun bounds the bytes of a run that is read.
const MaxUnfinishedRun = 256 << 20

// ReadUnfinishedRuns reads how many runs there are about, and returns them. Their error is that
// they are cut off or too large, or the reader's.
func ReadUnfinishedRuns(r io.Reader) (total int, runs iter.Seq2[rehearsal.UnfinishedRun, error], err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), MaxUnfinishedRun)
	next := func() (line unfinishedRunsLine, err error) {
		if !lines.Scan() {
			return line, cmp.Or(lines.Err(), io.ErrUnexpectedEOF)
		}
		return line, json.Unmarshal(lines.Bytes(), &line)
	}
	first, err := next()
	if err != nil || first.Total == nil {
		return 0, nil, fmt.Errorf("these are not the runs of a Beam: %w", cmp.Or(err, errNoRuns))
	}
	return *first.Total, func(yield func(rehearsal.UnfinishedRun, error) bool) {
		for {
			line, err := next()
			switch {
			case err == nil && line.Complete:
				return
			case err != nil || line.UnfinishedRun == nil:
				yield(rehearsal.UnfinishedRun{}, fmt.Errorf("the runs are cut off: %w", cmp.Or(err, errNoRuns)))
				return
			case !yield(*line.UnfinishedRun, nil):
				return
			}
		}
	}, nil
}

var errNoRuns = errors.New("a line has no run")
