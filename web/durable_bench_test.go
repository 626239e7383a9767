package web_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// tripsPerTurn is how many round trips a log makes before the next one's: each finds the
// processor as the one before left it, and waiting for a disk leaves it cold.
const tripsPerTurn = 20

// BenchmarkAskByLog is the round trip of an ask over HTTP on loopback, with each
// log, in turns: an answer and the next question are recorded in it. Beside them
// is what the disk takes for two writes of as many bytes, as the log that syncs
// always can't take less.
func BenchmarkAskByLog(b *testing.B) {
	memory := newBeamRoundTrips(b, newSiteOn(b, runlog.NewMemory(), "", endlessPhoton))
	interval := newBeamRoundTrips(b, newSiteOn(b, newDurableLog(b, false), "", endlessPhoton))
	always := newBeamRoundTrips(b, newSiteOn(b, newDurableLog(b, true), "", endlessPhoton))
	disk := newSyncedFile(b)
	var took [4][]time.Duration
	for b.Loop() {
		for i, trip := range []func() time.Duration{memory.measure, interval.measure, always.measure, disk.write} {
			for range tripsPerTurn {
				took[i] = append(took[i], trip())
			}
		}
	}
	floor := median(took[0])
	b.ReportMetric(0, "ns/op") // of all together, which says nothing
	for i, name := range []string{"memory", "interval", "always", "disk"} {
		p50 := median(took[i])
		b.ReportMetric(float64(p50.Microseconds()), "µs/"+name+"-p50")
		if i > 0 {
			b.ReportMetric(float64(p50)/float64(floor), name+"/memory")
		}
	}
}

func newDurableLog(b *testing.B, syncAlways bool) runlog.Log {
	l, err := jetstream.Open(b.Context(), jetstream.Options{Dir: filepath.Join(b.TempDir(), "log"), SyncAlways: syncAlways})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// syncedFile is a file that is written to and synced.
type syncedFile struct {
	b *testing.B
	f *os.File
}

func newSyncedFile(b *testing.B) *syncedFile {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return &syncedFile{b, f}
}

func (d *syncedFile) write() time.Duration {
	began := time.Now()
	for range 2 {
		if _, err := d.f.Write(make([]byte, 300)); err != nil {
			d.b.Fatal(err)
		}
		if err := d.f.Sync(); err != nil {
			d.b.Fatal(err)
		}
	}
	return time.Since(began)
}
