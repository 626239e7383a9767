package web_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// tripsPerTurn is how many round trips a log makes before the next log's turn, so that
// each finds the caches warm.
const tripsPerTurn = 20

// BenchmarkAskByLog measures the round trip of an ask over HTTP on loopback, which records
// an answer and the next question, with each log in turns. For comparison it measures two
// synced writes of as many bytes, the lower bound for a log that always syncs.
func BenchmarkAskByLog(b *testing.B) {
	memory := newBeamRoundTrips(b, newSiteOn(b, runlog.NewMemory(), "", endlessPhoton))
	interval := newBeamRoundTrips(b, newSiteOn(b, newDurableLog(b, store.SyncInterval), "", endlessPhoton))
	always := newBeamRoundTrips(b, newSiteOn(b, newDurableLog(b, store.SyncAlways), "", endlessPhoton))
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

func newDurableLog(t testing.TB, sync store.Sync) runlog.Log {
	l, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Sync: sync})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// A syncedFile syncs after each write.
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
