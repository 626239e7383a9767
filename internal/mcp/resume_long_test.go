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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// stuck is a log of which one run's can't be read before it is freed.
type stuck struct {
	log.Log
	run   atomic.Pointer[string]
	freed chan nothing
}

func (l *stuck) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	if which := l.run.Load(); which != nil && *which == run {
		<-l.freed
	}
	return l.Log.Read(ctx, run, after)
}

// To read a long log takes a while. The other calls of the connection go on
// meanwhile.
func TestResumingALongRunHoldsUpNoOtherCall(t *testing.T) {
	long := generators.New("long", func(_ context.Context, _ nothing, yield generators.Yield) (string, error) {
		for range 2000 {
			yield(generators.Status("on"))
		}
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		l := &stuck{Log: log.NewMemory(), freed: make(chan nothing)}
		free := sync.OnceFunc(func() { close(l.freed) })
		defer free()
		r := rigged(t, byLink, l, long, hello)
		w := r.stdio(t)
		w.hello("2025-11-25", `{"elicitation":{}}`)
		started, err := r.engine.Start(t.Context(), operator, run.Request{Photon: "long"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l.run.Store(&started.ID)
		w.resume(1, started.ID, "")
		synctest.Wait()
		begun := time.Now()
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"},"_meta":{"progressToken":5}}}`)
		for told := ""; !strings.Contains(told, `"id":2`); {
			if told = w.next(); time.Since(begun) > time.Second {
				t.Fatalf("after %s it says %s", time.Since(begun), told)
			}
		}
		free()
		if question := w.next(); !strings.Contains(question, "elicitation/create") || !strings.Contains(question, started.ID) {
			t.Errorf("then it says %s, want the question of the run that is taken up", question)
		}
		w.end()
	})
}
