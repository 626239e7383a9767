package disk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
)

// newWideFolder creates a folder with 41 folders: 40 have 5 files each, and one has
// more than are read at once.
func newWideFolder(t testing.TB) *os.Root {
	t.Helper()
	place := t.TempDir()
	for i := range 41 {
		folder := filepath.Join(place, fmt.Sprintf("d%02d", i))
		must(t, os.Mkdir(folder, 0o755))
		for j := range map[bool]int{false: 5, true: 600}[i == 40] {
			must(t, os.WriteFile(filepath.Join(folder, fmt.Sprint(j)), nil, 0o644))
		}
	}
	return openRoot(t, place)
}

const wideEntries = 41 + 40*5 + 600

func openRoot(t testing.TB, place string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(place)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWalker(ctx context.Context, yield generators.Yield) *walker {
	return &walker{ctx: ctx, yield: yield, scan: newScan(time.Now())}
}

func yieldTrue(generators.Event) bool { return true }

func TestWalk(t *testing.T) {
	root := newWideFolder(t)

	// If it is reported at every entry, progress rises in steps of at most the share
	// of a file in one of the small folders.
	t.Run("progress rises in small steps", func(t *testing.T) {
		var all []*generators.ProgressEvent
		w := newWalker(t.Context(), func(e generators.Event) bool { all = append(all, e.(*generators.ProgressEvent)); return true })
		must(t, w.walk(root))
		if len(all) != wideEntries+1 {
			t.Errorf("%d progress events, want one for each entry and one at the end", len(all))
		}
		for i, e := range all[1:] {
			if step := e.Done - all[i].Done; step < 0 || step > 0.7 || e.Total != 100 {
				t.Fatalf("%+v is followed by %+v", all[i], e)
			}
		}
		if last := all[len(all)-1]; all[0].Done != 0 || last.Done != 100 || last.Text != "800 files, 0 bytes" {
			t.Errorf("progress goes from %+v to %+v", all[0], last)
		}
	})

	t.Run("progress is limited in frequency", func(t *testing.T) {
		n := 0
		w := newWalker(t.Context(), func(generators.Event) bool { n++; return true })
		w.reportInterval = time.Hour
		if err := w.walk(root); err != nil || n != 2 {
			t.Errorf("%d progress events, %v; want the first and the last", n, err)
		}
	})

	t.Run("a stop ends the walk before the next entry", func(t *testing.T) {
		for _, at := range []int{1, 100, wideEntries} {
			ctx, stop := context.WithCancel(t.Context())
			n := 0
			w := newWalker(ctx, func(generators.Event) bool {
				if n++; n == at {
					stop()
				}
				return ctx.Err() == nil
			})
			if err := w.walk(root); !errors.Is(err, context.Canceled) || n != at {
				t.Errorf("stopped at event %d, the walk ended after %d with %v", at, n, err)
			}
			stop()
		}
	})
}

// TestUnreadableEntriesAreCounted uses a closed folder, which even root can't read.
func TestUnreadableEntriesAreCounted(t *testing.T) {
	root := openRoot(t, t.TempDir())
	root.Close()
	w := newWalker(t.Context(), yieldTrue)
	w.enterFolder(root, "a", "a", 1, 1)
	w.visitEntry(root, "b", "c", 1, 1)
	w.walkFolder(root, "d", 1, 1)
	if w.scan.unreadable != (skipCount{3, "a"}) || w.countRest(root) != 0 {
		t.Errorf("unreadable = %+v", w.scan.unreadable)
	}
	if got := w.scan.warnings(); len(got) != 1 || got[0] != "3 files or folders couldn't be read and were skipped, such as a." {
		t.Errorf("the warnings are %q", got)
	}
	w = newWalker(t.Context(), yieldTrue)
	if err := w.walk(root); err != nil || w.scan.unreadable.n != 1 {
		t.Errorf("unreadable = %+v, error %v", w.scan.unreadable, err)
	}
}

// Types beyond the limit are counted together.
func TestTypesAreBounded(t *testing.T) {
	f := newScan(time.Now())
	for i := range 5000 {
		f.sumOfType(fmt.Sprintf("f.x%d", i)).add(fileSum{1, 2})
	}
	if len(f.types) != maxTypes || f.otherTypes != (fileSum{5000 - maxTypes, 2 * (5000 - maxTypes)}) {
		t.Errorf("%d types, and %+v for the others", len(f.types), f.otherTypes)
	}
	items := f.byType()
	if last := items[len(items)-1]; len(items) != maxListed+1 || last.Files != 5000-maxListed || last.Bytes != 2*(5000-maxListed) {
		t.Errorf("%d items, the last is %+v", len(items), last)
	}
}

func TestExtension(t *testing.T) {
	for name, want := range map[string]string{
		"a.txt": ".txt", "a.TXT": ".txt", "a.tar.gz": ".gz", ".profile": "", ".config.json": ".json", "Makefile": "", "a.": "", ".": "", "..": "",
		"v1.2 final draft": "", "a." + strings.Repeat("x", 16): "", "a." + strings.Repeat("é", 15): "." + strings.Repeat("é", 15), "ÄÖ.ÄÖ": ".äö",
	} {
		if got := extension(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestSumsDoNotOverflow(t *testing.T) {
	s := fileSum{1, math.MaxInt64 - 1}
	if s.add(fileSum{2, math.MaxInt64 / 2}); s != (fileSum{3, math.MaxInt64}) {
		t.Errorf("the sum is %+v", s)
	}
}

// TestAges checks the bounds of the age groups.
func TestAges(t *testing.T) {
	const day = 24 * time.Hour
	f := newScan(time.Now())
	for old, want := range map[time.Duration]string{
		-30 * day: "In the future", -day: "In the future", 1 - day: "Up to a day", 0: "Up to a day", day: "Up to a day", day + 1: "1 to 7 days", 7 * day: "1 to 7 days",
		30 * day: "7 to 30 days", 365 * day: "30 days to a year", 365*day + 1: "1 to 5 years", 10_000 * day: "More than 5 years",
	} {
		if got := ageNames[f.ageIndex(f.started.Add(-old))]; got != want {
			t.Errorf("%v: got %s, want %s", old, got, want)
		}
	}
	if got := ageNames[f.ageIndex(time.Time{})]; got != "More than 5 years" {
		t.Errorf("zero time: got %s", got)
	}
}

func BenchmarkWalk(b *testing.B) {
	root := newWideFolder(b)
	b.ReportAllocs()
	for b.Loop() {
		w := newWalker(b.Context(), yieldTrue)
		w.reportInterval = time.Second / 10
		if err := w.walk(root); err != nil {
			b.Fatal(err)
		}
	}
}
