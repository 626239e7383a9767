package oldlog_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

var update = flag.Bool("update", false, "make the archives that are missing, and what is expected of them")

// TestMakeArchives makes those that are missing in testdata.
func TestMakeArchives(t *testing.T) {
	if !*update {
		t.Skip("-update makes archives")
	}
	for name, file := range archives {
		if _, err := os.Stat(file); err != nil {
			pack(t, makeFolder(t, name), file)
		}
		dir := unpack(t, name)
		raw, err := json.MarshalIndent(contents(t, readAll(t, openJetStream(t, dir))), "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		write(t, "testdata/"+name+".json", append(raw, '\n'))
	}
}

func makeFolder(t *testing.T, name string) string {
	dir := t.TempDir()
	l := openJetStream(t, dir)
	if name == "large" {
		dropTombstones(t, l, dir)
		l.Close()
		return dir
	}
	w := &workload{Rand: rand.New(rand.NewPCG(1, 2)), t: t, log: l, last: make(map[string]uint64)}
	for range 40 {
		w.step(50)
	}
	if name == "killed" {
		l.Close()
		w.log = openJetStream(t, dir)
		for range 20 {
			w.step(50)
		}
		if _, err := w.log.Append(t.Context(), "last", 0, runlog.Entry{Kind: "status"}); err != nil {
			t.Fatal(err)
		}
		return copyFolder(t, dir)
	}
	l.Close()
	if name == "format1" {
		write(t, filepath.Join(dir, "format"), []byte("1\n"))
		if err := os.Remove(filepath.Join(dir, "high-water-mark")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func pack(t *testing.T, dir, file string) {
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	zip, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	w := tar.NewWriter(zip)
	for _, path := range files(t, dir) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(dir, path)
		err = w.WriteHeader(&tar.Header{Name: "log/" + filepath.ToSlash(name), Mode: 0o600, Size: int64(len(raw))})
		if err == nil {
			_, err = w.Write(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkRead reads 100,000 waiting runs with three entries each.
func BenchmarkRead(b *testing.B) {
	const runs = 100_000
	dir := b.TempDir()
	l := openJetStream(b, dir)
	e := runlog.Entry{Kind: "status", Data: json.RawMessage(`"` + strings.Repeat("x", 298) + `"`)}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := w; n < runs; n += 8 {
				id := fmt.Sprintf("%032x", uint64(n)*0x9e3779b97f4a7c15)
				if _, err := l.Append(b.Context(), id, 0, e, e); err != nil {
					b.Error(err)
				}
				if _, err := l.Append(b.Context(), id, 2, e); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	l.Close()
	for b.Loop() {
		before := heldMB(b)
		f := mustOpen(b, dir)
		n := 0
		for a, err := range f.Scan(b.Context()) {
			if n += len(a.Entries); err != nil {
				b.Fatal(err)
			}
		}
		if n != 3*runs {
			b.Fatal(n)
		}
		b.ReportMetric(heldMB(b)-before, "MB-held")
		runtime.KeepAlive(f)
	}
}

// heldMB returns the size of what isn't garbage.
func heldMB(b *testing.B) float64 {
	b.StopTimer()
	defer b.StartTimer()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}
