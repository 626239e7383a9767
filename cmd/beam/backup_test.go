package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// runBeam runs a command that must exit with the given status, and returns its
// stdout and stderr.
func runBeam(t *testing.T, status int, args ...string) string {
	t.Helper()
	out, err := exec.Command("beam", args...).CombinedOutput()
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if code != status {
		t.Fatalf("beam %s ends with %d, want %d: %s", strings.Join(args, " "), code, status, out)
	}
	return string(out)
}

// A run that waits when it is backed up can be answered where it is restored, with
// its secrets and files; a run that works when it is backed up continues there.
func TestBackupWhileRunsContinue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	s := startServerProgram(t, "vaults", "--data", filepath.Join(dir, "data"))
	vault := s.startRun("vault")
	s.answer(s.waitForAsk(vault, "secret"), `{"secret":"xyzzy"}`)
	s.uploadFile(s.waitForAsk(vault, "file"), strings.Repeat("z", 400<<10))
	waits := s.waitForAsk(vault, "go")

	done, several := make(chan struct{}), make(chan struct{})
	var busy sync.WaitGroup
	var wizards []string
	busy.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			id := s.startRun("wizard")
			wizards = append(wizards, id)
			s.answer(s.waitForAsk(id, "name"), fmt.Sprintf(`{"name":"Ada %d"}`, len(wizards)))
			if len(wizards)%2 == 0 {
				s.answer(s.waitForAsk(id, "account"), `{"email":"ada@example.org","role":"admin"}`)
				s.answer(s.waitForAsk(id, "confirm"), `{"confirm":true}`)
			}
			if len(wizards) == 3 {
				close(several)
			}
		}
	})
	select {
	case <-several: // of which some wait
	case <-time.After(programtest.WaitTimeout):
		t.Fatal("the wizards don't go on")
	}
	backed := regexp.MustCompile(`^backed up ([\d,]+) runs? \([\d,]+ entries\) and [1-9][\d,]* files?: keep the file private`)
	for range 5 {
		if said := runBeam(t, 0, "backup", file, "--data", filepath.Join(dir, "data"), "--replace"); !backed.MatchString(said) {
			t.Errorf("it says %s", said)
		}
	}
	close(done)
	busy.Wait()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup's mode is %v, %v", info.Mode(), err)
	}
	s.answer(waits, `{"go":true}`) // the original goes on
	s.waitForAsk(vault, "")

	if said := runBeam(t, 0, "restore", file, "--data", filepath.Join(dir, "again")); !strings.HasPrefix(said, "restored ") {
		t.Errorf("it says %s", said)
	}
	again := startServerProgram(t, "vaults", "--data", filepath.Join(dir, "again"))
	if ask := again.waitForAsk(vault, "go"); ask != waits {
		t.Errorf("the question was %s, and is %s", waits, ask)
	}
	again.answer(waits, `{"go":true}`)
	again.waitForAsk(vault, "")
	if told := again.readStream(vault); !strings.Contains(told, "409600 bytes under a word of 5 letters") {
		t.Errorf("the run that waited tells %s", told)
	}
	finishWizards(t, again, wizards)
	if log := again.console.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("it logs %s", log)
	}
	// Its browser's session is as good as before.
	again.browser.Jar = s.browser.Jar
	again.waitForAsk(vault, "")
}

// finishWizards answers the questions of the wizards that a backup has.
func finishWizards(t *testing.T, s *server, wizards []string) {
	t.Helper()
	var all struct{ Runs []runInfo }
	s.getJSON("/runs", &all)
	there := make(map[string]bool)
	for _, r := range all.Runs {
		there[r.ID] = true
	}
	open := 0
	for i, id := range wizards {
		if !there[id] {
			continue // it began after the backup
		}
		r := s.waitWhileWorking(id) // it may have worked when it was backed up
		for _, step := range []struct{ key, content string }{
			{"name", fmt.Sprintf(`{"name":"Ada %d"}`, i+1)}, {"account", `{"email":"ada@example.org","role":"admin"}`}, {"confirm", `{"confirm":true}`},
		} {
			if len(r.Asks) > 0 && r.Asks[0].Key == step.key {
				open++
				s.answer(r.Asks[0].ID, step.content)
				next := map[string]string{"name": "account", "account": "confirm", "confirm": ""}
				s.waitForAsk(id, next[step.key])
				s.getJSON("/runs/"+id, &r)
			}
		}
		if told := s.readStream(id); !strings.Contains(told, fmt.Sprintf(`"name":"Ada %d"`, i+1)) || !strings.Contains(told, `"beam/status":"completed"`) {
			t.Errorf("wizard %d ends with %s", i+1, told)
		}
	}
	if len(there) < 3 || open == 0 {
		t.Errorf("of %d runs, %d questions were open: that shows nothing", len(there), open)
	}
	t.Logf("%d runs were restored of %d, with %d questions to answer", len(there), len(wizards)+1, open)
}

// A backup is the same if no Beam owns the folder. A backup that fails doesn't
// replace an older one.
func TestBackupWithoutOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "backup")
	s := startServer(t, "--data", data)
	id := s.startRun("wizard")
	ask := s.waitForAsk(id, "name")
	s.signal(syscall.SIGKILL)
	s.waitForExit(programtest.WaitTimeout)
	runBeam(t, 0, "backup", file, "--data", data)
	runBeam(t, 0, "restore", file, "--data", filepath.Join(dir, "again"))
	again := startServer(t, "--data", filepath.Join(dir, "again"))
	if got := again.waitForAsk(id, "name"); got != ask {
		t.Errorf("the question was %s, and is %s", ask, got)
	}
	if said := runBeam(t, 1, "backup", file, "--replace", "--data", filepath.Join(dir, "nothing")); !strings.Contains(said, "no backup was written: ") {
		t.Errorf("it says %s", said)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 { // data, again and backup
		t.Errorf("there is %v, %v", entries, err)
	}
	runBeam(t, 1, "restore", file, "--data", filepath.Join(dir, "again")) // it is in use, and not empty
	again.getJSON("/runs/"+id, &runInfo{})
}

// startBackup begins a backup of a folder that a new server owns, and returns both in the middle
// of it, with what reads the rest.
func startBackup(t *testing.T) (owner *server, backup *program, out io.Reader) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	s := startServerProgram(t, "vaults", "--data", data)
	vault := s.startRun("vault")
	s.answer(s.waitForAsk(vault, "secret"), `{"secret":"xyzzy"}`)
	random := make([]byte, 8<<20) // that no compression makes smaller
	rand.Read(random)
	s.uploadFile(s.waitForAsk(vault, "file"), string(random))
	s.waitForAsk(vault, "go")
	b := startProgram(t, func(c *exec.Cmd) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		out, c.Stdout = r, w
	}, "beam", "backup", "-", "--data", data)
	if _, err := io.ReadFull(out, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	return s, b, out
}

// If who makes a backup is killed or interrupted, the owner's log says so, and not as an error.
func TestBackupIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		s, b, out := startBackup(t)
		b.signal(signal)
		go io.Copy(io.Discard, out)
		b.waitForExit(programtest.WaitTimeout)
		said := func() bool { return strings.Contains(s.console.String(), "left before the backup was whole") }
		if !programtest.Poll(said) || strings.Contains(s.console.String(), "ERROR") {
			t.Errorf("after %s, the owner says %s", signal, s.console)
		}
	}
}

// If the owner ends in the middle of a backup, there is no backup file.
func TestOwnerEndsDuringBackup(t *testing.T) {
	t.Parallel()
	s, b, out := startBackup(t)
	s.signal(syscall.SIGKILL)
	s.waitForExit(programtest.WaitTimeout)
	go io.Copy(io.Discard, out)
	b.waitForExit(programtest.WaitTimeout)
	if said := b.console.String(); b.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said, fmt.Sprintf("no backup was written: vaults serve (process %d), which owns the data folder, stopped in the middle", s.cmd.Process.Pid)) {
		t.Errorf("it says %s", said)
	}
}

// No Beam uses what a killed restore has left.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "backup")
	s := startServer(t, "--data", data)
	s.waitForAsk(s.startRun("wizard"), "name")
	runBeam(t, 0, "backup", file, "--data", data)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "again")
	var in io.WriteCloser
	r := startProgram(t, func(c *exec.Cmd) { in, err = c.StdinPipe() }, "beam", "restore", "-", "--data", again)
	if err != nil {
		t.Fatal(err)
	}
	in.Write(whole[:len(whole)-1])
	if !programtest.Poll(func() bool { _, err := os.Stat(filepath.Join(again, "beam.db")); return err == nil }) {
		t.Fatal("nothing is restored:", r.console)
	}
	r.signal(syscall.SIGKILL)
	r.waitForExit(programtest.WaitTimeout)
	for _, command := range [][]string{{"--addr", "127.0.0.1:0"}, {"stdio"}, {"prune", "--keep", "0"}, {"backup", filepath.Join(dir, "other")}} {
		if said := runBeam(t, 1, append(command, "--data", again)...); !strings.Contains(said, "the restore was interrupted") && !strings.Contains(said, "is not a Beam data folder") {
			t.Errorf("%s says %s", command[0], said)
		}
	}
	runBeam(t, 1, "restore", file, "--data", again)
}

// If the disk is full, nothing is restored, and an error says so.
func TestRestoreToFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file, small := filepath.Join(dir, "data"), filepath.Join(dir, "backup"), filepath.Join(dir, "small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=17m,mode=700", "beam-test", small).CombinedOutput(); err != nil {
		t.Skipf("a small file system can't be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", small).Run() })
	s := startServerProgram(t, "vaults", "--data", data)
	vault := s.startRun("vault")
	s.answer(s.waitForAsk(vault, "secret"), `{"secret":"xyzzy"}`)
	s.uploadFile(s.waitForAsk(vault, "file"), strings.Repeat("z", 20<<20))
	s.waitForAsk(vault, "go")
	runBeam(t, 0, "backup", file, "--data", data)
	said := runBeam(t, 1, "restore", file, "--data", small)
	if !strings.Contains(said, "nothing is restored: ") || !strings.Contains(said, "no space left") && !strings.Contains(said, "disk is full") {
		t.Errorf("it says %s", said)
	}
	if left, err := os.ReadDir(small); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
