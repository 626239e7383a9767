package mcp_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

// A fullDiskLog is a log on a disk that is full when the first answers arrive.
type fullDiskLog struct {
	runlog.Log
	refusals atomic.Int64
}

func (l *fullDiskLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if len(entries) > 0 && entries[len(entries)-1].Kind == runlog.KindAnswered && l.refusals.Add(-1) >= 0 {
		return 0, runlog.ErrDiskFull
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// A client answers only once. Beam records the answer when there is space again.
func TestAnswerOnFullDiskIsRecordedLater(t *testing.T) {
	l := &fullDiskLog{Log: runlog.NewMemory()}
	l.refusals.Store(1)
	w := newTestServerOn(t, mcp.AskPolicy{}, l, askingPhoton("pick", ask.ForSelect("color", "Which color?", colors))).connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pick"}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"color":"g"}}}`, jsonMember(t, w.nextLine(), "id"))
	if got := w.nextLine(); !strings.Contains(got, `"result":"g"`) {
		t.Errorf("the call ends with %s", got)
	}
}
