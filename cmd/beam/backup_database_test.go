package main

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// secretsKey writes a key for a database to a file.
func secretsKey(t *testing.T) (file string) {
	t.Helper()
	key := make([]byte, 32)
	rand.Read(key)
	file = filepath.Join(t.TempDir(), "secrets-key")
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Runs go from a folder to a database and back, while replicas use it, with their open questions,
// files and secret answers.
func TestBackupOfDatabase(t *testing.T) {
	t.Parallel()
	dir, db := t.TempDir(), cluster.NewPostgres(t, cluster.PostgresOptions{})
	in := []string{"--store", db.DSN(), "--secrets-key-file", secretsKey(t)}
	with := func(args ...string) []string { return append(args, in...) }
	file, data := filepath.Join(dir, "backup"), filepath.Join(dir, "data")

	s := startServerProgram(t, "vaults", "--data", data)
	vault := s.startRun("vault")
	s.answer(s.waitForAsk(vault, "secret"), `{"secret":"xyzzy"}`)
	s.uploadFile(s.waitForAsk(vault, "file"), strings.Repeat("z", 400<<10))
	waits := s.waitForAsk(vault, "go")
	runBeam(t, 0, "backup", file, "--data", data)

	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".cut", whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if said := runBeam(t, 1, with("restore", file+".cut")...); !strings.Contains(said, "nothing is restored: ") {
		t.Errorf("restoring half a backup says %s", said)
	}
	if said := runBeam(t, 0, with("restore", file)...); !strings.HasPrefix(said, "restored 1 run (") { // it is empty again
		t.Errorf("restoring says %s", said)
	}
	if said := runBeam(t, 1, with("restore", file)...); !strings.Contains(said, "the database is not empty") {
		t.Errorf("restoring again says %s", said)
	}

	replicas := startServerProgram(t, "vaults", with("--data", filepath.Join(dir, "a"))...)
	if ask := replicas.waitForAsk(vault, "go"); ask != waits {
		t.Errorf("the question was %s, and is %s", waits, ask)
	}
	wizard := replicas.startRun("wizard")
	asked := replicas.waitForAsk(wizard, "name")
	for _, from := range [][]string{in, {"--data", filepath.Join(dir, "a")}} { // the replica's socket
		if said := runBeam(t, 0, append([]string{"backup", file, "--replace"}, from...)...); !strings.HasPrefix(said, "backed up 2 runs (") || !strings.Contains(said, " 1 file:") {
			t.Errorf("backing up says %s", said)
		}
		back := filepath.Join(t.TempDir(), "back")
		runBeam(t, 0, "restore", file, "--data", back)
		again := startServerProgram(t, "vaults", "--data", back)
		if ask := again.waitForAsk(wizard, "name"); ask != asked {
			t.Errorf("the question was %s, and is %s", asked, ask)
		}
		again.answer(again.waitForAsk(vault, "go"), `{"go":true}`)
		again.waitForAsk(vault, "")
		if told := again.readStream(vault); !strings.Contains(told, "409600 bytes under a word of 5 letters") {
			t.Errorf("the run that waited tells %s", told)
		}
		again.browser.Jar = s.browser.Jar // its browser's session is as good as before
		again.waitForAsk(vault, "")
	}

	if said := runBeam(t, 0, with("check")...); !strings.HasPrefix(said, "The database is intact: 2 runs, ") || !strings.Contains(said, " and 1 file.") {
		t.Errorf("check says %s", said)
	}
	const flip = "set_byte(data, length(data) / 2, 255 - get_byte(data, length(data) / 2))"
	if err := db.Exec(context.Background(), "UPDATE entries SET data = "+flip+" WHERE (run, first) = (SELECT num, 1 FROM runs WHERE id = $1)", wizard); err != nil {
		t.Fatal(err)
	}
	if said := runBeam(t, 1, with("check")...); !strings.Contains(said, "run "+wizard+": ") || !strings.Contains(said, "1 run of 2 is damaged") {
		t.Errorf("check of a changed entry says %s", said)
	}
	if err := db.Exec(context.Background(), "UPDATE blobs SET data = "+flip+" WHERE run = $1 AND n = 1", vault); err != nil {
		t.Fatal(err)
	}
	if said := runBeam(t, 1, with("check")...); !strings.Contains(said, "run "+vault+": the file ") {
		t.Errorf("check of a changed file says %s", said)
	}
	if err := db.Exec(context.Background(), "DELETE FROM blobs WHERE run = $1", vault); err != nil {
		t.Fatal(err)
	}
	if said := runBeam(t, 1, with("check")...); !strings.Contains(said, "run "+vault+": a file is missing: ") && !strings.Contains(said, "1 run of 2 is damaged") {
		t.Errorf("check of a missing file says %s", said)
	}
	if !programtest.Poll(func() bool {
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), "beam-memory-*", "blobs", vault))
		return len(left) == 0
	}) {
		t.Error("copies of files are left")
	}
}
