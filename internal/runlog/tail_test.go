package runlog_test

import (
	"errors"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// A follower gets what is kept and then the end; one that is slower than that is behind.
func TestTail(t *testing.T) {
	tail := &runlog.Tail{MaxBytes: 4000}
	tail.Add(runlog.Number(0, make([]runlog.Entry, 10)))
	tail.Add(runlog.Number(10, make([]runlog.Entry, 20))) // replaces the others
	gone := errors.New("gone")
	tail.End(gone)
	for after, want := range map[uint64]struct {
		entries int
		behind  bool
		err     error
	}{0: {0, true, nil}, 9: {0, true, nil}, 10: {20, false, gone}, 29: {1, false, gone}, 30: {0, false, gone}} {
		var got int
		var err error
		last, behind := tail.Follow(t.Context(), after, func(batch []runlog.Entry, end error) bool {
			got, err = got+len(batch), end
			return true
		})
		if got != want.entries || behind != want.behind || err != want.err || last != after+uint64(got) {
			t.Errorf("after %d: %d entries up to %d, behind %t, %v", after, got, last, behind, err)
		}
	}
}
