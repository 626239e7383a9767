package mcp_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/mcp"
)

// full is a log on a disk that is full when the first answers come.
type full struct {
	log.Log
	refuse atomic.Int64
}

func (l *full) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if len(entries) > 0 && entries[len(entries)-1].Kind == log.KindAnswered && l.refuse.Add(-1) >= 0 {
		return 0, log.ErrFull
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// A client answers once. What it said is recorded when there is room.
func TestAnAnswerOnAFullDiskIsRecordedLater(t *testing.T) {
	l := &full{Log: log.NewMemory()}
	l.refuse.Store(1)
	w := rigged(t, mcp.Asking{}, l, asker("pick", ask.ForSelect("color", "Which color?", colors))).stdio(t)
	w.hello("2025-11-25", `{"elicitation":{}}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pick"}}`)
	w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"color":"g"}}}`, member(t, w.next(), "id"))
	if got := w.next(); !strings.Contains(got, `"result":"g"`) {
		t.Errorf("the call ends with %s", got)
	}
}
