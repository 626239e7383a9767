package engine_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

func TestOpenAsksAreCountedByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, twoConfirms)
		count := func() (open []int, oldest time.Duration) { return b.CountOpenAsksByAge(time.Minute, time.Hour) }
		if open, oldest := count(); !slices.Equal(open, []int{0, 0, 0}) || oldest != 0 {
			t.Errorf("without questions, the counts are %v, the oldest is %s", open, oldest)
		}
		var first string
		for i, after := range []time.Duration{2 * time.Hour, time.Hour, time.Second} {
			for range 100 * (i + 1) { // more than a page
				info, err := b.Start(t.Context(), generators.Caller{ID: string(rune('a' + i))}, engine.StartRequest{Photon: "twice"})
				if err != nil {
					t.Fatal(err)
				}
				if first == "" {
					first = info.ID
				}
			}
			time.Sleep(after)
		}
		if open, oldest := count(); !slices.Equal(open, []int{300, 0, 300}) || oldest != 3*time.Hour+time.Second {
			t.Errorf("the counts are %v, the oldest is %s", open, oldest)
		}
		if err := b.Cancel(t.Context(), generators.Caller{ID: "a"}, first, "browser"); err != nil {
			t.Fatal(err)
		}
		if open, _ := count(); !slices.Equal(open, []int{300, 0, 299}) {
			t.Errorf("after one was withdrawn, the counts are %v", open)
		}
	})
}
