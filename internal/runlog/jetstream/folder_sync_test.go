package jetstream

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A folder that changed recently is synced again: it may have changed once more
// without a new modification time.
func TestFolderIsSyncedUntilItsModTimeIsOld(t *testing.T) {
	dir := t.TempDir()
	msgs := messagesDir(dir)
	if err := os.MkdirAll(msgs, 0o700); err != nil {
		t.Fatal(err)
	}
	setTime := func(at time.Time) {
		t.Helper()
		if err := os.Chtimes(msgs, at, at); err != nil {
			t.Fatal(err)
		}
	}
	setTime(time.Now().Add(time.Hour)) // so that it changed recently, however long the test takes
	s, err := newFolderSyncer(Options{Dir: dir, SyncAlways: true})
	if err != nil {
		t.Fatal(err)
	}
	if !s.syncedModTime.IsZero() {
		t.Error("a folder that was just made counts as synced")
	}
	old := time.Now().Add(-time.Hour)
	setTime(old)
	if err := s.sync(); err != nil || !s.syncedModTime.Equal(old) {
		t.Errorf("an old folder counts as synced at %v, want %v; %v", s.syncedModTime, old, err)
	}
	if err := os.WriteFile(filepath.Join(msgs, "2.blk"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	setTime(time.Now().Add(time.Hour))
	if err := s.sync(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(msgs); err != nil || info.ModTime().Equal(s.syncedModTime) {
		t.Errorf("a folder with a new block counts as synced; %v", err)
	}
	if err := os.RemoveAll(msgs); err != nil {
		t.Fatal(err)
	}
	if err := s.sync(); err == nil {
		t.Error("syncing a folder that is gone succeeded")
	}
	if s, err = newFolderSyncer(Options{Dir: dir}); err != nil || s.sync() != nil {
		t.Error("without SyncAlways, the folder is needed")
	}
}
