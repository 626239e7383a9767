package web_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/jetstream"
)

// turn is how many round trips a log makes before the next one's: each finds the
// processor as the one before left it, and waiting for a disk leaves it cold.
const turn = 20

// BenchmarkAskByLog is the round trip of an ask over HTTP on loopback, with each
// log, in turns: an answer and the next question are recorded in it. Beside them
// is what the disk takes for two writes of as many bytes, as the log that syncs
// always can't take less.
func BenchmarkAskByLog(b *testing.B) {
	memory := newBeamTrips(b, newSiteOn(b, log.NewMemory(), "", endless))
	interval := newBeamTrips(b, newSiteOn(b, durable(b, false), "", endless))
	always := newBeamTrips(b, newSiteOn(b, durable(b, true), "", endless))
	disk := newDisk(b)
	var took [4][]time.Duration
	for b.Loop() {
		for i, trip := range []func() time.Duration{memory.trip, interval.trip, always.trip, disk.write} {
			for range turn {
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

func durable(b *testing.B, syncAlways bool) log.Log {
	l, err := jetstream.Open(b.Context(), jetstream.Options{Dir: filepath.Join(b.TempDir(), "log"), SyncAlways: syncAlways})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// disk is a file that is written to and synced.
type disk struct {
	b *testing.B
	f *os.File
}

func newDisk(b *testing.B) *disk {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return &disk{b, f}
}

func (d *disk) write() time.Duration {
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
