package files

import (
	"errors"
	"io"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Loader returns a function that returns an entry with its data, read from the blob store if
// it was too large for the log. If that is damaged, the function returns an entry that says so
// to readers, in its place.
func Loader(blobs *blob.Store) func(run string, entry runlog.Entry) (runlog.Entry, error) {
	return func(run string, entry runlog.Entry) (runlog.Entry, error) {
		return tellDamage(load(run, entry, func(run, digest, name string) (io.ReadSeekCloser, error) {
			return open(blobs, run, digest, name, func(error) {})
		}))
	}
}

// tellDamage returns an entry that could be loaded, or one that says to readers that the data is
// damaged, in its place, so that they get the rest of the run. A replay needs the data itself: it
// ends the run, and a run whose start is damaged ends when it is recovered.
func tellDamage(entry runlog.Entry, err error) (runlog.Entry, error) {
	damaged, ok := errors.AsType[*runlog.DamagedError](err)
	if !ok {
		return entry, err
	}
	told := runlog.NewEntry("log", generators.LogEvent{Level: generators.Error, Logger: "beam", Data: damaged.Error()})
	if standIn := standIns[entry.Kind]; standIn != nil {
		told = runlog.NewEntry(entry.Kind, standIn(damaged))
	}
	told.Seq, told.Time = entry.Seq, entry.Time
	return told, nil
}

// DamagedPhoton is the photon of a run whose start is damaged. No photon has a name with
// parentheses.
const DamagedPhoton = "(unknown)"

// standIns return the data of entries that a run can't be without, for damaged ones. A run whose
// start is damaged belongs to the operator: what is left of the file can't be trusted.
var standIns = map[runlog.Kind]func(*runlog.DamagedError) any{
	runlog.KindStarted: func(*runlog.DamagedError) any {
		return runlog.Started{Photon: DamagedPhoton, Title: "Damaged run", Owner: callers.Operator().ID}
	},
	runlog.KindFinished: func(d *runlog.DamagedError) any {
		return runlog.Finished{Status: runlog.Failed, Error: d.Error()}
	},
}
