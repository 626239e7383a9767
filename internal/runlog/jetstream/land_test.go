package jetstream

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A folder that changed lately is synced again: it may have changed once more
// within the time that its file system tells apart.
func TestBlocksAreSyncedUntilTheFolderRests(t *testing.T) {
	dir := t.TempDir()
	msgs := messagesDir(dir)
	if err := os.MkdirAll(msgs, 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := newBlocks(Options{Dir: dir, SyncAlways: true})
	if err != nil {
		t.Fatal(err)
	}
	if !b.synced.IsZero() {
		t.Error("a folder that was just made counts as synced")
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(msgs, long, long); err != nil {
		t.Fatal(err)
	}
	if err := b.land(); err != nil || !b.synced.Equal(long) {
		t.Errorf("one that rests counts as synced at %v, want %v; %v", b.synced, long, err)
	}
	if err := os.WriteFile(filepath.Join(msgs, "2.blk"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.land(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(msgs); err != nil || info.ModTime().Equal(b.synced) {
		t.Errorf("one that has a new block counts as synced; %v", err)
	}
	if err := os.RemoveAll(msgs); err != nil {
		t.Fatal(err)
	}
	if err := b.land(); err == nil {
		t.Error("one that is gone counts as synced")
	}
	if b, err = newBlocks(Options{Dir: dir}); err != nil || b.land() != nil {
		t.Error("an append that need not reach the disk needs the folder")
	}
}
