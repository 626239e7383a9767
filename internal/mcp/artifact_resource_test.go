package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

// An artifact's URI carries no authority: who may not see its run can't tell whether it
// exists.
func TestArtifactsOfOthersAreMissing(t *testing.T) {
	r := newTestServer(t, generators.New("draw", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.File("plan.txt", "text/plain", []byte("secret plan")))
		return "drawn", nil
	}, nil))
	run, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "draw"})
	if err != nil {
		t.Fatal(err)
	}
	seq := awaitArtifact(t, r, run.ID)
	const missing = `"code":-32002,"message":"there is no resource`
	for caller, want := range map[string]string{"operator": `"text":"secret plan"`, "somebody else": missing} {
		c := r.connectStdioAs(t, generators.Caller{ID: caller})
		c.initialize("2025-11-25", "{}")
		c.sendLine(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"beam://runs/%s/artifacts/%d"}}`, run.ID, seq)
		if got := c.nextLine(); !strings.Contains(got, want) {
			t.Errorf("%s gets %s", caller, got)
		}
		c.sendLine(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"beam://runs/%032d/artifacts/%d"}}`, 7, seq)
		if got := c.nextLine(); !strings.Contains(got, missing) {
			t.Errorf("%s gets %s of a run that doesn't exist", caller, got)
		}
		c.sendLine(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"beam://runs/none/artifacts/1",%s}}`, modernMeta("{}", ""))
		if got := c.nextLine(); !strings.Contains(got, `"code":-32602,"message":"there is no resource`) {
			t.Errorf("%s gets %s in the modern era", caller, got)
		}
		c.closeAndWait()
	}
}

// awaitArtifact returns the number of a run's artifact once it has one.
func awaitArtifact(t *testing.T, r *testServer, run string) uint64 {
	t.Helper()
	batches, err := r.engine.Follow(t.Context(), operator, run, 0)
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			if e.Kind == "artifact" {
				return e.Seq
			}
		}
	}
	t.Fatalf("run %s made no artifact", run)
	return 0
}
