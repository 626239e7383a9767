package jetstream_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

func openLog(t testing.TB, o jetstream.Options) *jetstream.Log {
	t.Helper()
	l, err := jetstream.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestLog(t *testing.T) {
	runlogtest.RunSuite(t, func(t *testing.T) runlog.Log { return openLog(t, jetstream.Options{Dir: t.TempDir()}) })
}

func BenchmarkLog(b *testing.B) {
	runlogtest.RunBenchmarks(b, func(b *testing.B) runlog.Log { return openLog(b, jetstream.Options{Dir: b.TempDir()}) })
}

func BenchmarkLogSyncAlways(b *testing.B) {
	runlogtest.RunBenchmarks(b, func(b *testing.B) runlog.Log {
		return openLog(b, jetstream.Options{Dir: b.TempDir(), SyncAlways: true})
	})
}
