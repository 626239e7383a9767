package backup_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/runlog"
)

// What it takes to write and to check an archive of 10,000 runs that wait.
func BenchmarkWrite(b *testing.B) {
	const runs = 10_000
	p := newFilledParts(b)
	for i := range runs {
		_, err := p.Log.Append(b.Context(), fmt.Sprintf("%032x", i), 0, runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "wizard", Title: "Setup wizard", Owner: "operator"}),
			runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1}), runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "name"}))
		if err != nil {
			b.Fatal(err)
		}
	}
	var out bytes.Buffer
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			if err := backup.Write(b.Context(), &out, p, "v1"); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(out.Len())/runs, "bytes/run")
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/runs, "µs/run")
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if _, err := backup.Check(b.Context(), bytes.NewReader(out.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/runs, "µs/run")
	})
}
