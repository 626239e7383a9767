package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

// No statement but those of Check walks a whole table or sorts more than ties.
func TestStatementsUseIndexes(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	question := runlog.NewEntry(runlog.KindAsked, runlog.Asked{Question: &askdata.Question{Kind: askdata.KindText, From: []askdata.Who{askdata.Who{User: "eve"}}}})
	start := runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Owner: "ada", IdempotencyKey: "k"})
	for i, e := range []runlog.Entry{start, question, runlog.NewEntry("status", 1), runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: generators.Caller{ID: "bob"}}), runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 2})} {
		if _, err := s.Append(ctx, "r", uint64(i), e); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = s.Append(ctx, "duplicate", 0, start)
	for range s.Read(ctx, "r", 2) {
	}
	for range s.Runs(ctx) {
	}
	p := runlist.Position{}
	for _, owner := range []string{"ada", ""} {
		_, _ = s.RunsOf(ctx, owner, p, 1)
		_, _ = s.CountOf(ctx, owner)
		for _, f := range []runlist.AskFilter{{}, {Restricted: true}, {Called: true}, {Names: []string{"id:user:eve", "role:ops"}}} {
			f.Owner = owner
			_, _ = s.Asks(ctx, f, p, 1)
		}
	}
	_, _ = s.Row(ctx, "r")
	_, _ = s.FindStarted(ctx, "ada", "k")
	_, _ = s.FirstOf(ctx, "p", "k")
	for _, list := range []func(context.Context, runlist.Position, int) ([]*runlist.Row, error){s.Unfinished, s.Queued, s.Ended, s.Due} {
		_, _ = list(ctx, p, 1)
	}
	_, _ = s.ForksOf(ctx, "r", p, 1)
	_, _ = s.CountAsks(ctx, time.Now())
	_, _ = s.CountPhotons(ctx)
	_ = s.newCursor("r", head{num: 1}, 0).checkGone(ctx, runlog.ErrCorrupt)
	for _, c := range []smallstate.Change{{New: []byte("1")}, {Old: []byte("1"), New: []byte("2")}, {Old: []byte("2")}} {
		c.Bucket, c.Key = "b", "k"
		if applied, err := s.State().Apply(ctx, c); !applied || err != nil {
			t.Fatal(applied, err)
		}
	}
	_, _ = s.State().Get(ctx, "b", "k")
	_, _ = s.State().List(ctx, "b", "", 1)
	for range s.Blobs().Runs() {
	}
	for range s.Blobs().RunBlobs("r") {
	}
	_, _ = s.Blobs().Get("r", "d").Read(nil)
	_, _ = s.Blobs().ReadMessages("r", 1)
	if err := s.Delete(ctx, "r"); err != nil {
		t.Fatal(err)
	}
	s.writer.gate.Lock() // it doesn't use its statements now
	defer s.writer.gate.Unlock()
	queries := slices.Collect(maps.Keys(s.reader.all))
	queries = slices.AppendSeq(queries, maps.Keys(s.writer.all))
	if len(queries) < 30 {
		t.Errorf("there are only %d statements", len(queries))
	}
	for _, q := range queries {
		if strings.HasPrefix(q, "PRAGMA") || !strings.Contains(q, " ") || strings.HasPrefix(q, "BEGIN") {
			continue
		}
		for _, step := range explainPlan(t, s, q) {
			scans := strings.HasPrefix(step, "SCAN ") && !strings.HasPrefix(step, "SCAN page") && !strings.HasPrefix(step, "SCAN k") && step != "SCAN meta" && !strings.HasPrefix(step, "SCAN deleted") && !strings.HasPrefix(step, "SCAN photons")
			scans = scans && !strings.Contains(step, "USING COVERING INDEX runs_due") // ordered by it
			if scans || strings.Contains(step, "USE TEMP B-TREE FOR ORDER BY") && !strings.Contains(q, "AS page") {
				t.Errorf("%s\n\t%s", q, step)
			}
		}
	}
}

func explainPlan(t *testing.T, s *Store, query string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(query, "$"))
	for i := range args {
		if !strings.Contains(query, fmt.Sprintf("$%d", i+1)) {
			args = args[:i]
			break
		}
	}
	rows, err := s.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	return steps
}
