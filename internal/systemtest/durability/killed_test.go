//go:build linux

package durability

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// unfinishedFiles returns the files below a folder that were not completely
// written.
func unfinishedFiles(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "incoming-") || strings.Contains(name, ".partial-") || strings.Contains(name, ".new") {
			all = append(all, path)
		}
		return nil // what goes away meanwhile is none
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// waitForUnfinishedFile waits until there is a file that isn't completely
// written.
func waitForUnfinishedFile(t *testing.T, dir string) {
	t.Helper()
	if !programtest.Poll(func() bool { return len(unfinishedFiles(t, dir)) > 0 }) {
		t.Fatal("nothing is being written")
	}
}

// A program that is killed before it renames a file leaves a temporary file.
// The next start removes it, wherever it is in the folder.
func TestKilledBeforeRename(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not there to kill at a system call")
	}
	bin := buildPhotons(t)
	for _, name := range []string{"seal-key", "beam.mark", "beam.db"} {
		data := filepath.Join(t.TempDir(), "data")
		ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, "strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=renameat", "-P", filepath.Join(data, name),
			"-e", "inject=renameat:signal=KILL", bin, "serve", "--addr", "127.0.0.1:0", "--data", data)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		out, err := cmd.CombinedOutput()
		if err == nil || ctx.Err() != nil || len(unfinishedFiles(t, data)) == 0 {
			t.Fatalf("the program is not killed before it names %s, or leaves nothing: %v, %s", name, err, out)
		}
		s := startServer(t, bin, "", "TEST_SEAT=", "--data", data)
		if l := unfinishedFiles(t, data); len(l) > 0 {
			t.Errorf("killed before it names %s, it leaves %v", name, l)
		}
		s.waitForAsk(s.startRun("vault", "{}", "vault"), "secret")
		s.stop()
	}
}

// A file that was being uploaded when the program was killed isn't kept, and
// its question stays open.
func TestKilledDuringUpload(t *testing.T) {
	bin, data := buildPhotons(t), filepath.Join(t.TempDir(), "data")
	s := startServer(t, bin, "", "TEST_SEAT=", "--data", data)
	id := s.startRun("vault", "{}", "vault")
	s.answerAsk(id, vaultAnswers[0])
	ask := s.waitForAsk(id, "file").Asks[0].ID
	r, w := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		request, err := http.NewRequestWithContext(context.Background(), "POST", s.origin+"/mcp/request?action=accept&ask="+ask, r)
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		if response, err := s.me.Do(request); err == nil {
			response.Body.Close()
			t.Errorf("half a file is answered with %s", response.Status)
		}
	}()
	io.WriteString(w, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n"+uploadContent)
	waitForUnfinishedFile(t, data)
	s.signal(syscall.SIGKILL)
	w.Close()
	<-sent
	if len(unfinishedFiles(t, data)) == 0 {
		t.Fatal("the program that was killed left nothing: that shows nothing")
	}
	s = startServer(t, bin, "", "TEST_SEAT=", "--data", data)
	if l := unfinishedFiles(t, data); len(l) > 0 {
		t.Errorf("%v is left", l)
	}
	s.answerAsk(id, vaultAnswers[1])
	s.answerAsk(id, vaultAnswers[2])
	s.checkEnd(archivedRun{scenario: scenario{Name: "vault", End: "completed", Tells: []string{"f.txt: 400000 bytes"}}, ID: id})
}

// hasNewFile reports whether there is a file now that was not there before.
func hasNewFile(before, now []string) bool {
	return slices.ContainsFunc(now, func(f string) bool { return !slices.Contains(before, f) })
}

// A backup that is killed leaves an incomplete file. The next backup to the
// same file removes it, but not that of another backup in progress.
func TestKilledDuringBackup(t *testing.T) {
	bin, dir := buildPhotons(t), t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "backup")
	s := startServer(t, bin, "", "TEST_SEAT=", "--data", data)
	begin := func() *exec.Cmd {
		t.Helper()
		before := unfinishedFiles(t, dir)
		b := exec.Command(bin, "backup", file, "--data", data)
		if err := b.Start(); err != nil {
			t.Fatal(err)
		}
		if !programtest.Poll(func() bool { return hasNewFile(before, unfinishedFiles(t, dir)) }) {
			t.Fatal("no backup is begun")
		}
		return b
	}
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // so that no backup gets on
		t.Fatal(err)
	}
	killed := begin()
	killed.Process.Kill()
	killed.Wait()
	first := unfinishedFiles(t, dir)
	waits := begin()
	if now := unfinishedFiles(t, dir); len(first) != 1 || len(now) != 1 || now[0] == first[0] {
		t.Errorf("one was killed, and left %v; while the next is written, there is %v", first, now)
	}
	other := begin()
	// One may have taken the file of another, which had yet to lock it, for that of the killed one:
	// then it makes another.
	if !programtest.Poll(func() bool { return len(unfinishedFiles(t, dir)) == 2 }) {
		t.Errorf("while two are written, there is %v", unfinishedFiles(t, dir))
	}
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*exec.Cmd{waits, other} {
		if err := b.Wait(); err != nil {
			t.Error(err)
		}
	}
	if now := unfinishedFiles(t, dir); len(now) > 0 {
		t.Errorf("%v is left", now)
	}
	runCommand(t, bin, "restore", file, "--data", filepath.Join(dir, "again"))
}
