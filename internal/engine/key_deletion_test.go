package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A syncedLog notes, whenever the log is synced, how many keys there are, and whether the last
// entry of a run was appended before.
type syncedLog struct {
	runlog.Log
	keyDir      string
	ended       bool
	keysAtSync  int
	syncedAtEnd bool
}

func (l *syncedLog) Append(ctx context.Context, id string, after uint64, entries ...runlog.Entry) (uint64, error) {
	last, err := l.Log.Append(ctx, id, after, entries...)
	l.ended = err == nil && len(entries) > 0 && entries[len(entries)-1].Kind == runlog.KindFinished
	return last, err
}

func (l *syncedLog) Sync(ctx context.Context) error {
	keys, err := os.ReadDir(l.keyDir)
	if err == nil {
		l.keysAtSync, l.syncedAtEnd = len(keys), l.ended
	}
	return l.Log.Sync(ctx)
}

var secretive = newPhoton("secretive", func(_ context.Context, yield generators.Yield) (string, error) {
	_, err := ask.Secret(yield, "word", "Which?")
	return "done", err
}, &generators.Options{Durable: true})

// The key of a run's secrets is deleted when it is certain that the run has ended: if a power
// failure took its end back, it would go on, and need them.
func TestKeyIsDeletedAfterSync(t *testing.T) {
	o := testOptions(t, secretive)
	o.KeyDir = t.TempDir()
	l := &syncedLog{Log: o.Log, keyDir: o.KeyDir}
	o.Log = l
	b := openTestEngine(t, o)
	id := b.startRun("secretive", "")
	word, _ := b.waitForAsk(id, 0)
	b.acceptAsk(word, `{"word":"xyzzy"}`)
	b.waitForEnd(id)
	b.closeNow()
	if keys, err := os.ReadDir(o.KeyDir); err != nil || len(keys) > 0 || l.keysAtSync != 1 || !l.syncedAtEnd {
		t.Errorf("at the last sync, the run had ended: %v, with %d keys; there are %v now, %v", l.syncedAtEnd, l.keysAtSync, keys, err)
	}
}

// A process that was killed before it deleted the key of a run that had ended leaves it to the
// next one.
func TestKeyOfEndedRunIsDeletedAtStart(t *testing.T) {
	o := testOptions(t, secretive)
	o.KeyDir = t.TempDir()
	b := openTestEngine(t, o)
	ended, waiting := b.startRun("secretive", ""), b.startRun("secretive", "")
	word, _ := b.waitForAsk(ended, 0)
	b.acceptAsk(word, `{"word":"xyzzy"}`)
	b.waitForEnd(ended)
	b.closeNow()
	for _, id := range []string{ended, waiting} {
		if err := os.WriteFile(filepath.Join(o.KeyDir, id), make([]byte, 32), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openTestEngine(t, o)
	if keys, err := os.ReadDir(o.KeyDir); err != nil || len(keys) != 1 || keys[0].Name() != waiting {
		t.Errorf("there are the keys %v, %v; want that of %s", keys, err, waiting)
	}
}
