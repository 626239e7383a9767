package mcp_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// A blockingLog blocks reads of one run's log until it is released.
type blockingLog struct {
	runlog.Log
	blockedRun atomic.Pointer[string]
	unblocked  chan none
}

func (l *blockingLog) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	if which := l.blockedRun.Load(); which != nil && *which == run {
		<-l.unblocked
	}
	return l.Log.Read(ctx, run, after)
}

// Reading a long log takes time. The other calls of the connection are served
// meanwhile.
func TestResumingLongRunDelaysNoOtherCall(t *testing.T) {
	long := generators.New("long", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		for range 2000 {
			yield(generators.Status("on"))
		}
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		l := &blockingLog{Log: runlog.NewMemory(), unblocked: make(chan none)}
		free := sync.OnceFunc(func() { close(l.unblocked) })
		defer free()
		r := newTestServerOn(t, linkPolicy, l, long, helloPhoton)
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		started, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "long"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l.blockedRun.Store(&started.ID)
		w.callResumeTool(1, started.ID, "")
		synctest.Wait()
		begun := time.Now()
		w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"},"_meta":{"progressToken":5}}}`)
		for told := ""; !strings.Contains(told, `"id":2`); {
			if told = w.nextLine(); time.Since(begun) > time.Second {
				t.Fatalf("after %s got %s", time.Since(begun), told)
			}
		}
		free()
		if question := w.nextLine(); !strings.Contains(question, "elicitation/create") || !strings.Contains(question, started.ID) {
			t.Errorf("then got %s, want the question of the resumed run", question)
		}
		w.closeAndWait()
	})
}
