package store_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/internal/store"
)

func openStore(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestLog(t *testing.T) {
	runlogtest.RunSuite(t, func(t *testing.T) runlog.Log { return openStore(t, store.Options{Dir: t.TempDir()}) })
}

func BenchmarkLog(b *testing.B) {
	runlogtest.RunBenchmarks(b, func(b *testing.B) runlog.Log {
		return openStore(b, store.Options{Dir: b.TempDir(), Sync: store.SyncInterval})
	})
}

func BenchmarkLogSyncAlways(b *testing.B) {
	runlogtest.RunBenchmarks(b, func(b *testing.B) runlog.Log {
		return openStore(b, store.Options{Dir: b.TempDir(), Sync: store.SyncAlways})
	})
}
