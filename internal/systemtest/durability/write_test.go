package durability

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

var writeCommit = flag.String("write", "", "commit whose program is to write testdata/COMMIT")

// TestWrite makes the archives of a commit, with the program of that commit:
//
//	go test ./internal/systemtest/durability -run TestWrite -write c2c56c6
//
// The photons are those of the working tree: their source has to compile there.
func TestWrite(t *testing.T) {
	if *writeCommit == "" {
		t.Skip("it is written once a version, by -write COMMIT")
	}
	photons, beam := buildCommit(t, *writeCommit)
	to := filepath.Join("testdata", *writeCommit)
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	m := &manifest{Commit: *writeCommit, Token: "a token of the tests", Seat: "seat 12"}
	t.Setenv("TEST_HOLD", "1")
	env := "TEST_SEAT=" + m.Seat
	m.writeRuns(t, photons, "", env, true, data).stop()
	s := m.writeRuns(t, photons, m.Token, env, false, data)
	runCommand(t, photons, "backup", filepath.Join(to, "backup"), "--data", data)
	s.signal(syscall.SIGKILL)
	packFolder(t, data, filepath.Join(to, "killed.tar.gz"))

	s = startServer(t, beam, m.Token, env, "--data", data)
	for _, r := range m.Runs {
		if r.Stray {
			for _, a := range r.Left {
				s.answerAsk(r.ID, a)
			}
		}
	}
	s.stop()
	packFolder(t, data, filepath.Join(to, "stopped.tar.gz"))
	raw, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "manifest.json"), append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// buildCommit builds a commit's programs: with the photons of the tests, and
// with those that it ships.
func buildCommit(t *testing.T, commit string) (photons, beam string) {
	t.Helper()
	dir := t.TempDir()
	const here = "internal/systemtest/durability/photons"
	script := fmt.Sprintf(`git -C ../../.. archive %s | tar -x -C %s && mkdir -p %[2]s/%[3]s && cp photons/*.go %[2]s/%[3]s &&
		cd %[2]s && go build -o bin/ ./%[3]s ./cmd/beam`, commit, dir, here)
	if out, err := exec.Command("bash", "-c", "set -o pipefail; "+script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "bin", "photons"), filepath.Join(dir, "bin", "beam")
}

// writeRuns brings about the runs that are evicted, or the others.
func (m *manifest) writeRuns(t *testing.T, bin, token, env string, cold bool, data string) *server {
	t.Helper()
	args := []string{"--data", data}
	if cold {
		args = append(args, "--evict-after", "10ms")
	}
	s := startServer(t, bin, token, env, args...)
	c := startClient(t, bin, "--data", data)
	for _, sc := range scenarios() {
		if sc.Cold != cold {
			continue
		}
		s := s.asOwner(t, sc.Owner)
		r := archivedRun{scenario: sc}
		switch {
		case sc.Task != "":
			r.ID = c.startTask(t, sc.Photon, sc.Task)
		default:
			r.ID = s.startRun(sc.Photon, sc.Args, m.idempotencyKey(sc))
		}
		s.playScenario(&r)
		m.Runs = append(m.Runs, r)
	}
	if cold {
		s.waitForEviction()
	}
	return s
}

// playScenario brings a run to the state in which it is archived.
func (s *server) playScenario(r *archivedRun) {
	s.t.Helper()
	for _, a := range r.Made {
		s.answerAsk(r.ID, a)
	}
	if r.Stop {
		s.mustDo("POST", "/runs/"+r.ID+"/cancel", asJSON, nil)
	}
	switch {
	case len(r.Left) > 0:
		r.State = s.waitForAsk(r.ID, r.Left[0].Key).State
	case r.Restless && r.Photon == "brief":
		r.State = s.waitForAsk(r.ID, "word").State
	case r.Restless:
		r.State = s.getRun(r.ID).State
	default:
		r.State = s.waitForAsk(r.ID, "").State
	}
	if r.Owner == "operator" && r.Photon == "interview" && r.State != "waiting" {
		r.Bodies = s.artifactDigests(r.ID)
	}
}

// artifactDigests returns the digests of the artifacts that a run's page links
// to.
func (s *server) artifactDigests(id string) map[string]string {
	all := make(map[string]string)
	r := s.getRun(id)
	for n := range r.Last {
		path := fmt.Sprintf("/runs/%s/artifacts/%d", id, n+1)
		if _, err := s.try("GET", path, "", nil); err == nil {
			all[path] = s.digestOf(path)
		}
	}
	return all
}

// waitForEviction waits until no run is resident.
func (s *server) waitForEviction() {
	s.t.Helper()
	allEvicted := func() bool {
		return strings.Contains(string(s.mustDo("GET", "/metrics", "", nil)), "\nbeam_runs_resident 0\n")
	}
	if !programtest.Poll(allEvicted) {
		s.t.Fatal("runs are not evicted")
	}
}

// packFolder writes a folder's files to an archive.
func packFolder(t *testing.T, dir, file string) {
	t.Helper()
	var buf bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(zip)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		info, statErr := os.Lstat(filepath.Join(dir, path))
		if err != nil || statErr != nil || !d.IsDir() && !info.Mode().IsRegular() || path == "lock" {
			return err
		}
		h := &tar.Header{Name: path, Mode: int64(info.Mode().Perm()), Typeflag: tar.TypeDir, Format: tar.FormatPAX}
		if d.IsDir() {
			return w.WriteHeader(h)
		}
		content, err := root.ReadFile(path)
		if err != nil {
			return err
		}
		h.Typeflag, h.Size = tar.TypeReg, int64(len(content))
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = zip.Close()
	}
	if err == nil {
		err = os.WriteFile(file, buf.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
