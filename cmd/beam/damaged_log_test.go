package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/programtest"
)

const firstBlock = "log/jetstream/$G/streams/runs/msgs/1.blk"

// Beam refuses a log that lost a part, and changes nothing in the folder; check
// says what is wrong, and --accept-loss continues with what can be read.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, "--data", data)
	var runs []string
	for range 30 {
		runs = append(runs, s.startRun("wizard"))
	}
	s.waitForAsks(30)
	backup := filepath.Join(t.TempDir(), "backup")
	runBeam(t, 0, "backup", backup, "--data", data)
	if said := runBeam(t, 1, "check", "--data", data); !strings.Contains(said, "in use by another Beam") {
		t.Errorf("while it is in use, check says %s", said)
	}
	s.signal(syscall.SIGTERM)
	s.waitForExit(programtest.WaitTimeout)
	if said := runBeam(t, 0, "check", "--data", data); !strings.HasPrefix(said, "The log is intact: 30 runs in ") {
		t.Errorf("check says %s", said)
	}
	if said := runBeam(t, 0, "check", backup); !strings.HasPrefix(said, "The backup is intact: 30 runs (") {
		t.Errorf("of the backup, check says %s", said)
	}

	for name, damage := range map[string]func(path string) error{
		"cut to 9 KB": func(path string) error { return os.Truncate(path, 9<<10) },
		"deleted":     os.Remove,
		"a bit of the last record flipped": func(path string) error {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			raw[len(raw)-20] ^= 1
			return os.WriteFile(path, raw, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(dir, firstBlock)); err != nil {
				t.Fatal(err)
			}
			before := programtest.FileDigests(t, dir)
			for _, command := range []string{"serve", "stdio", "check"} {
				args := []string{command, "--data", dir}
				if command == "serve" {
					args = append(args, "--addr", "127.0.0.1:0")
				}
				said := runBeam(t, 1, args...)
				for _, want := range []string{"the log is damaged", filepath.Base(firstBlock), "can be read", "--accept-loss"} {
					if !strings.Contains(said, want) {
						t.Errorf("%s doesn't say %q: %s", command, want, said)
					}
				}
				if after := programtest.FileDigests(t, dir); !maps.Equal(before, after) {
					t.Errorf("%s has changed the folder:\n%v\n%v", command, before, after)
				}
			}
			acceptLoss(t, dir, runs)
		})
	}
}

// acceptLoss starts a Beam on a damaged folder and answers the remaining
// questions.
func acceptLoss(t *testing.T, dir string, runs []string) {
	t.Helper()
	s := startServer(t, "--data", dir, "--accept-loss")
	s.waitForOutput("the loss is accepted")
	var left struct{ Runs []struct{ ID, State string } }
	s.getJSON("/runs", &left)
	if len(left.Runs) > len(runs) {
		t.Errorf("%d runs are left", len(left.Runs))
	}
	for _, r := range left.Runs {
		if now := s.waitWhileWorking(r.ID); now.State != "waiting" { // it works if its question was lost
			t.Errorf("run %s is %s", r.ID, now.State)
		}
		s.answer(s.waitForAsk(r.ID, "name"), `{"name":"Ada"}`)
		s.waitForAsk(r.ID, "account")
	}
	t.Logf("%d of %d runs are left", len(left.Runs), len(runs))
	aside, err := filepath.Glob(filepath.Join(dir, "damaged-*", "log", "jetstream"))
	if err != nil || len(aside) != 1 {
		t.Errorf("aside is %v; %v", aside, err)
	}
	s.signal(syscall.SIGTERM)
	s.waitForExit(programtest.WaitTimeout)
	runBeam(t, 0, "check", "--data", dir)
}
