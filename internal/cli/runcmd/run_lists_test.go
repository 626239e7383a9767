package runcmd

import (
	"context"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
)

// A list says of a question whether a restart loses it. Somebody who may answer a question finds it, also by the beginning of its id, without
// being able to use its run.
func TestFindAskOfAnothersRun(t *testing.T) {
	approve := generators.New("approve", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "ok", "Deploy?", ask.From(ask.Role("ops")), ask.NotCaller())
	}, nil)
	registry, err := registry.NewRegistry(approve)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Ephemeral: true})
	defer e.Close(t.Context())
	as := func(name string, roles ...string) *connection {
		return &connection{beamRuns: &runs.Local{Engine: e, Caller: generators.Caller{ID: "user:" + name, Roles: roles}}}
	}
	run, err := as("ada").Start(t.Context(), "approve", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for batch, err := range as("ada").Follow(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range batch {
			if entry.Kind == runlog.KindAsked {
				id = runlog.AskID(run, entry.Seq)
			}
		}
		if id != "" {
			break
		}
	}
	list, err := as("ben", "ops").Asks(t.Context())
	if err != nil || len(list) != 1 || askRows(list)[1][5] != "Deploy? · This question is lost if Beam restarts." {
		t.Fatalf("the questions are listed as %q, %v", askRows(list), err)
	}
	list[0].Lost = false
	if rows := askRows(list); rows[1][5] != "Deploy?" {
		t.Errorf("a question that survives is listed as %q", rows[1])
	}
	_, seq, _ := strings.Cut(id, ".")
	for _, given := range []string{id, run[:6] + "." + seq} {
		if open, err := findAsk(t.Context(), as("ben", "ops"), given); err != nil || open.ID != id {
			t.Errorf("%s: %+v, %v", given, open, err)
		}
		if open, err := findAsk(t.Context(), as("eve"), given); err == nil {
			t.Errorf("%s: somebody else finds %+v", given, open)
		}
	}
	if open, err := findAsk(t.Context(), as("ben", "ops"), run+".99"); err == nil {
		t.Errorf("a question that there isn't: %+v", open)
	}
}

// The list of questions says which nobody may answer, and why.
func TestListOfUnanswerableAsk(t *testing.T) {
	q := &askdata.Question{Kind: askdata.KindConfirm, Message: "Deploy?"}
	rows := askRows([]engine.OpenAsk{
		{ID: "a.2", Unanswerable: true, For: "ben", Excluded: true, Asked: runlog.Asked{Question: q}},
		{ID: "b.2", For: "ada", Asked: runlog.Asked{Question: q}},
	})
	if len(rows) != 3 || rows[1][5] != "Deploy? · Nobody can answer this: it is for ben, and nobody who can sign in qualifies. You can stop its run." || rows[2][5] != "Deploy?" {
		t.Errorf("the rows are %q", rows)
	}
}
