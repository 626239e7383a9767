package jetstream_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/jetstream"
	"github.com/photon-beam/beam/internal/log/logtest"
)

func open(t testing.TB, o jetstream.Options) *jetstream.Log {
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
	logtest.Run(t, func(t *testing.T) log.Log { return open(t, jetstream.Options{Dir: t.TempDir()}) })
}

func BenchmarkLog(b *testing.B) {
	logtest.Bench(b, func(b *testing.B) log.Log { return open(b, jetstream.Options{Dir: b.TempDir()}) })
}

func BenchmarkLogSyncAlways(b *testing.B) {
	logtest.Bench(b, func(b *testing.B) log.Log { return open(b, jetstream.Options{Dir: b.TempDir(), SyncAlways: true}) })
}
