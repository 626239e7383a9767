package archive_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/internal/archive"
	"github.com/photon-beam/beam/internal/log"
)

// What it takes to write and to check an archive of 10,000 runs that wait.
func BenchmarkArchive(b *testing.B) {
	const runs = 10_000
	p := filled(b)
	for i := range runs {
		_, err := p.Log.Append(b.Context(), fmt.Sprintf("%032x", i), 0, log.New(log.KindStarted, log.Started{Photon: "wizard", Title: "Set-up wizard", Owner: "operator"}),
			log.New(log.KindClaimed, log.Claimed{Epoch: 1}), log.New(log.KindAsked, log.Asked{Key: "name"}))
		if err != nil {
			b.Fatal(err)
		}
	}
	var out bytes.Buffer
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			if err := archive.Write(b.Context(), &out, p, "v1"); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(out.Len())/runs, "bytes/run")
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/runs, "µs/run")
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if _, err := archive.Check(b.Context(), bytes.NewReader(out.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/runs, "µs/run")
	})
}
