package engine_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// forkedLog returns a run that took everything but the last calls, the fork's entries, and a
// function that makes a log of the earlier run and the first n entries of the fork.
func forkedLog(t *testing.T, r *release) (want runlog.Finished, entries []runlog.Entry, cut func(t *testing.T, n int, withSource bool) runlog.Log) {
	t.Helper()
	b := newTestEngine(t, r.photon())
	id := b.startRun("release", "")
	b.answerAll(id)
	source := b.entries(id)
	fork := b.fork(id, b.seqOf(id, "mail"), "")
	_, want = b.answerAll(fork)
	entries = b.entries(fork)
	return want, entries, func(t *testing.T, n int, withSource bool) runlog.Log {
		l := logWithPrefix(t, entries, n)
		if withSource {
			if _, err := l.Append(t.Context(), id, 0, source...); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
}

// A fork that is resumed from any prefix of its log goes on taking, runs no step that is recorded,
// and ends in the same way.
func TestForkResumedFromEveryPrefix(t *testing.T) {
	r := &release{code: doing("plan", "name?", "fail", "mail", "where?", "mail", "done")}
	want, entries, cut := forkedLog(t, r)
	for n := 1; n < len(entries); n++ {
		r.take()
		o := testOptions(t, r.photon())
		o.Log = cut(t, n, true)
		b := openTestEngine(t, o)
		_, f := b.answerAll(crashedRunID)
		ran := r.take()
		if f.Status != want.Status || strings.Contains(ran, "plan") || strings.Contains(ran, "fail") {
			t.Errorf("from entry %d (%s), the steps %q ran, and the run finished %+v", n, entries[n-1].Kind, ran, f)
		}
		if got, all := kindsOf(withoutClaims(b.entries(crashedRunID))), kindsOf(withoutClaims(entries)); !slices.Equal(got, all) {
			t.Errorf("from entry %d, the log is\n%v, want\n%v", n, got, all)
		}
		for _, e := range b.entries(crashedRunID) {
			if a, err := runlog.Decode[runlog.Answered](e); e.Kind == runlog.KindAnswered && err == nil && (a.AskSeq == b.seqOf(crashedRunID, "name")) != (a.Surface == engine.ReplaySurface) {
				t.Errorf("from entry %d, entry %d was answered by %s", n, a.AskSeq, a.Surface)
			}
		}
		b.closeNow()
	}
}

// If the earlier run is gone, a fork that has outcomes left to take is interrupted; one that has
// none goes on.
func TestForkOfDeletedRun(t *testing.T) {
	r := &release{code: doing("plan", "name?", "fail", "mail", "where?", "done")}
	_, entries, cut := forkedLog(t, r)
	lastTaken := 0
	for i, e := range entries {
		if strings.Contains(string(e.Data), `"taken":true`) {
			lastTaken = i + 1
		}
	}
	for n := 1; n < len(entries); n++ {
		r.take()
		o := testOptions(t, r.photon())
		o.Log = cut(t, n, false)
		b := openTestEngine(t, o)
		_, f := b.answerAll(crashedRunID)
		ran := r.take()
		switch {
		case n < lastTaken && (f.Status != runlog.Interrupted || !strings.Contains(f.Error, "was deleted") || ran != ""):
			t.Errorf("from entry %d, the run finished %+v, and the steps %q ran", n, f, ran)
		case n >= lastTaken && f.Status != runlog.Completed:
			t.Errorf("from entry %d, the run finished %+v", n, f)
		}
		b.closeNow()
	}
}

// A fork that had stopped taking doesn't begin again after a restart.
func TestForkThatDiffersResumed(t *testing.T) {
	r := &release{code: doing("plan", "name?", "mail", "where?", "done")}
	b := newTestEngine(t, r.photon())
	id := b.startRun("release", "")
	b.answerAll(id)
	source := b.entries(id)
	r.code = doing("plan", "new", "name?", "mail", "where?", "done")
	fork := b.fork(id, math.MaxUint64, "")
	b.answerAll(fork)
	entries := b.entries(fork)
	for n := 1; n < len(entries); n++ {
		r.take()
		l := logWithPrefix(t, entries, n)
		if _, err := l.Append(t.Context(), id, 0, source...); err != nil {
			t.Fatal(err)
		}
		o := testOptions(t, r.photon())
		o.Log = l
		b := openTestEngine(t, o)
		if _, f := b.answerAll(crashedRunID); f.Status != runlog.Completed {
			t.Errorf("from entry %d, the run finished %+v", n, f)
		}
		if ran := r.take(); strings.Contains(ran, "plan") {
			t.Errorf("from entry %d, the steps %q ran", n, ran)
		}
		if got, all := kindsOf(withoutClaims(b.entries(crashedRunID))), kindsOf(withoutClaims(entries)); !slices.Equal(got, all) {
			t.Errorf("from entry %d, the log is\n%v, want\n%v", n, got, all)
		}
		b.closeNow()
	}
}

// The place of a patch that the earlier run passed stays passed in its fork, and is no outcome that
// was taken: no step runs again, wherever the fork is resumed.
func TestForkPassesPatches(t *testing.T) {
	r := &release{code: doing("plan", "mail", "pay", "name?")}
	b := newTestEngine(t, r.photon())
	id := b.startRun("release", "")
	b.answerAll(id)
	source := b.entries(id)
	r.code = func(r *release, in releaseInput, yield generators.Yield) (string, error) {
		patches := []bool{generators.Patched(yield, "first"), generators.Patched(yield, "second")}
		result, err := doing("plan", "mail", "pay", "name?")(r, in, yield)
		return result + fmt.Sprint(append(patches, generators.Patched(yield, "first"))), err
	}
	r.take()
	fork := b.fork(id, math.MaxUint64, "")
	_, want := b.answerAll(fork)
	if ran := r.take(); ran != "" || !strings.Contains(string(want.Result), "[false false false]") {
		t.Errorf("the fork ran %q and ended with %s", ran, want.Result)
	}
	entries := b.entries(fork)
	for n := 1; n < len(entries); n++ {
		l := logWithPrefix(t, entries, n)
		if _, err := l.Append(t.Context(), id, 0, source...); err != nil {
			t.Fatal(err)
		}
		o := testOptions(t, r.photon())
		o.Log = l
		again := openTestEngine(t, o)
		_, got := again.answerAll(crashedRunID)
		if ran := r.take(); ran != "" || !bytes.Equal(got.Result, want.Result) {
			t.Errorf("resumed from entry %d, it ran %q and ended with %s", n, ran, got.Result)
		}
		again.closeNow()
	}
}
