package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// Beam refuses a damaged folder; check and doctor say what is wrong, repair says what would be
// lost and changes nothing, and with --yes it keeps what can be read.
func TestDamagedFolder(t *testing.T) {
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
	for _, command := range []string{"check", "repair"} {
		if said := runBeam(t, 1, command, "--data", data); !strings.Contains(said, "in use by another Beam") {
			t.Errorf("while it is in use, %s says %s", command, said)
		}
	}
	s.signal(syscall.SIGTERM)
	s.waitForExit(programtest.WaitTimeout)
	if said := runBeam(t, 0, "check", "--data", data); !strings.HasPrefix(said, "The data folder is intact: 30 runs, ") {
		t.Errorf("check says %s", said)
	}
	if said := runBeam(t, 0, "check", backup); !strings.HasPrefix(said, "The backup is intact: 30 runs (") {
		t.Errorf("of the backup, check says %s", said)
	}

	for name, damage := range map[string]func(dir string) error{
		"without its mark": func(dir string) error { return os.Remove(filepath.Join(dir, "beam.mark")) },
		"with a bit of its header flipped": func(dir string) error {
			path := filepath.Join(dir, "beam.db")
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			raw[27] ^= 1
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
			if err := damage(dir); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"stdio"}, {"check"}, {"doctor", "--addr", "127.0.0.1:0"}} {
				said := runBeam(t, 1, append(args, "--data", dir)...)
				for _, want := range []string{"is damaged", "repair"} {
					if !strings.Contains(said, want) {
						t.Errorf("%s doesn't say %q: %s", args[0], want, said)
					}
				}
			}
			if said := runBeam(t, 1, "repair", "--data", dir); !strings.Contains(said, "Kept would be 30 runs") || !strings.Contains(said, "nothing has changed") {
				t.Errorf("repair says %s", said)
			}
			repairFolder(t, dir, runs)
		})
	}
}

// repairFolder repairs a folder, starts a Beam on it and answers the questions.
func repairFolder(t *testing.T, dir string, runs []string) {
	t.Helper()
	if said := runBeam(t, 0, "repair", "--data", dir, "--yes"); !strings.Contains(said, "The data folder is repaired: 30 runs, ") || !strings.Contains(said, "What was damaged is in "+dir) {
		t.Errorf("repair --yes says %s", said)
	}
	s := startServer(t, "--data", dir)
	for _, id := range runs {
		s.answer(s.waitForAsk(id, "name"), `{"name":"Ada"}`)
		s.waitForAsk(id, "account")
	}
	aside, err := filepath.Glob(filepath.Join(dir, "damaged-*", "beam.db"))
	if err != nil || len(aside) != 1 {
		t.Errorf("aside is %v; %v", aside, err)
	}
	s.signal(syscall.SIGTERM)
	s.waitForExit(programtest.WaitTimeout)
	runBeam(t, 0, "check", "--data", dir)
}
