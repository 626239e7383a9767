package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/web/identity"
)

// oldKeys are session keys in the file of an earlier version.
const oldKeys = `{"id":"abcdefgh","signing":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","sealing":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=","signedOut":{"user:ada":1700000000000}}`

// oldStateFiles are the small state of an earlier version.
var oldStateFiles = map[string]string{
	"session-keys.json": oldKeys,
	"told/0123.context": "",
	"told/0123.message": "",
	"webhook-asks":      "0123.4\n0123.4\n0123.7\n",
	"model-usage.json":  `{"since":"2026-01-02T03:04:05Z","usage":[{"owner":"user:ada","tool":"t","model":"m","calls":2,"failed":1,"inputTokens":24,"outputTokens":6}]}`,
	"upstreams/up.json": `{"up__a":{"digest":"d","definition":{"name":"a"},"since":"2026-01-02T03:04:05Z"}}`,
}

// wantState is what a store has of it, besides the session keys.
var wantState = []string{
	"model-usage since=2026-01-02T03:04:05Z",
	`model-usage ["user:ada","t","m"]={"tool":"t","model":"m","calls":2,"failed":1,"inputTokens":24,"outputTokens":6}`,
	"pins/up .=\x01",
	`pins/up up__a={"digest":"d","definition":{"name":"a"},"since":"2026-01-02T03:04:05Z"}`,
	"sign-outs user:ada=1700000000000",
	"told 0123.context=\x01",
	"told 0123.message=\x01",
	"webhook 0123.4=\x01",
	"webhook 0123.7=\x01",
}

func writeOldState(t *testing.T, dir string) {
	t.Helper()
	for name, content := range oldStateFiles {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// useStore opens the store of a folder, as a start does.
func useStore(t *testing.T, dir string, use func(f *Folder, s *store.Store)) {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = f.WithStore(t.Context(), slog.New(slog.DiscardHandler), func(s *store.Store) error {
		use(f, s)
		return nil
	})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func checkState(t *testing.T, f *Folder, s *store.Store) {
	t.Helper()
	var got []string
	for _, bucket := range []string{"model-usage", "pins/up", "sign-outs", "told", "webhook"} {
		for v, err := range (smallstate.Bucket{Store: s.State(), Name: bucket}).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s=%s", bucket, v.Key, v.Value))
		}
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(wantState))) {
		t.Errorf("the store has\n%s", strings.Join(got, "\n"))
	}
	if keys, err := f.KeyStore(s.State()).Load(t.Context()); err != nil || keys.ID != "abcdefgh" || keys.Sealing[31] != 1 {
		t.Errorf("the session keys are %+v, %v", keys, err)
	}
}

func leftFiles(dir string) (left []string) {
	for name := range oldStateFiles {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			left = append(left, name)
		}
	}
	return left
}

// The first start copies the small state of an earlier version, and deletes its files when they
// can't be needed any more. Killed anywhere, nothing is lost.
func TestOldState(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) string{
		"new folder": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"store of before": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "data")
			useStore(t, dir, func(*Folder, *store.Store) {})
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := make(t)
			writeOldState(t, dir)
			eachKill(t, dir, "open", func(t *testing.T, dir string) {
				for range 2 {
					useStore(t, dir, func(f *Folder, s *store.Store) { checkState(t, f, s) })
					if left := leftFiles(dir); len(left) > 0 {
						t.Errorf("the files %v are still there", left)
					}
				}
			})
		})
	}
	t.Run("log of before", func(t *testing.T) {
		dir := oldFolder(t, "stopped")
		writeOldState(t, dir)
		for range 2 {
			useStore(t, dir, func(f *Folder, s *store.Store) { checkState(t, f, s) })
			if left := leftFiles(dir); len(left) != len(oldStateFiles) {
				t.Errorf("only the files %v are left, and the migration can be undone", left)
			}
		}
		useStore(t, dir, func(_ *Folder, s *store.Store) { // something is recorded
			if _, err := (smallstate.Bucket{Store: s.State(), Name: "told"}).Add(t.Context(), "x", []byte{1}); err != nil {
				t.Fatal(err)
			}
		})
		useStore(t, dir, func(_ *Folder, s *store.Store) {
			if err := (smallstate.Bucket{Store: s.State(), Name: "told"}).Delete(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
		})
		useStore(t, dir, func(f *Folder, s *store.Store) { checkState(t, f, s) })
		if left := leftFiles(dir); len(left) > 0 {
			t.Errorf("the files %v are still there", left)
		}
	})
}

// What an earlier version makes when it is started by mistake doesn't replace what there is.
func TestOldStateOfAMistake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	writeOldState(t, dir)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	useStore(t, dir, func(*Folder, *store.Store) {})
	other := strings.Replace(oldKeys, "abcdefgh", "hgfedcba", 1)
	if err := os.WriteFile(filepath.Join(dir, oldKeysFile), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	useStore(t, dir, func(f *Folder, s *store.Store) { checkState(t, f, s) })
}

// Damaged files of an earlier version are reported, and not deleted.
func TestDamagedOldState(t *testing.T) {
	for name, refused := range map[string]string{
		"session-keys.json": "session-keys.json contains no valid session keys", "upstreams/up.json": `what was accepted of the tools of "up" can't be read (remove `, "model-usage.json": "",
	} {
		dir := filepath.Join(t.TempDir(), "data")
		writeOldState(t, dir)
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Chmod(dir, 0o700), os.WriteFile(path, []byte("{"), 0o600)); err != nil {
			t.Fatal(err)
		}
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		err = f.WithStore(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), func(*store.Store) error { return nil })
		switch {
		case refused == "" && (err != nil || !strings.Contains(log.String(), "counting begins anew")):
			t.Errorf("%s is damaged: %v, %s", name, err, &log)
		case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%s is damaged: %v", name, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A folder whose session keys can't be decrypted is refused, and check says so. A repair makes new
// ones, and keeps everything else.
func TestLostSeal(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"missing": os.Remove,
		"another": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 32)), 0o600) },
		"cut":     func(path string) error { return os.Truncate(path, 5) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			writeOldState(t, dir)
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			useStore(t, dir, func(*Folder, *store.Store) {})
			if err := lose(filepath.Join(dir, sealFile)); err != nil {
				t.Fatal(err)
			}
			load := func() (err error) {
				useStore(t, dir, func(f *Folder, s *store.Store) {
					_, err = f.KeyStore(s.State()).Load(t.Context())
				})
				return err
			}
			for range 2 {
				if err := load(); err == nil || !strings.Contains(err.Error(), sealFile) {
					t.Fatalf("the keys are loaded: %v", err)
				}
			}
			if report, err := Check(t.Context(), dir); err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems[0], sealFile) {
				t.Errorf("check finds %+v, %v", report, err)
			}
			if done := repair(t, dir, true); len(done.Problems) != 1 || !strings.Contains(done.Problems[0], "everybody signs in again") {
				t.Errorf("repaired: %+v", done)
			}
			if err := load(); err != nil {
				t.Error(err)
			}
			useStore(t, dir, func(f *Folder, s *store.Store) {
				if told, err := s.State().Get(t.Context(), "told", "0123.context"); told == nil || err != nil {
					t.Error("what isn't encrypted is lost, too", err)
				}
			})
			if again := repair(t, dir, true); !again.Intact {
				t.Errorf("repaired again: %+v", again)
			}
		})
	}
}

// A process that can't join the owner of the user's folder knows who is signed in there.
func TestFallbackSharesSessions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	useStore(t, dir, func(f *Folder, s *store.Store) {
		want, err := f.KeyStore(s.State()).Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fallback, err := OpenFallback(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		shared, err := fallback.OpenStore(context.Background(), store.SyncDefault, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := fallback.KeyStore(shared.State).Load(t.Context()); err != nil || got.ID != want.ID {
			t.Errorf("it has the keys %q, not %q: %v", got.ID, want.ID, err)
		}
		if err := fallback.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := os.Stat(filepath.Join(dir, identity.KeysFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("there is a file of session keys", err)
	}
}
