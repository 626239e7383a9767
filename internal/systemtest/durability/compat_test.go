// Package durability checks that data folders keep what docs/operations.md
// promises of them: folders that earlier versions wrote, that a power failure
// leaves, and that a killed process leaves. It doesn't know the files in them:
// it uses the program's flags, its HTTP interface and MCP, and relies on
// docs/http.md and docs/mcp.md.
package durability

// Each folder under testdata belongs to a commit. It has runs in every state,
// as that commit's program left them when it was killed, when it was stopped,
// and in a backup. The test opens each with the current program, answers the
// open questions and lets every run end. If a later version shows a run
// differently on purpose, the expectation here changes; the archives never do.

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A manifest describes the runs in an archive and how they must end.
type manifest struct {
	Commit string
	Token  string
	Seat   string
	Runs   []archivedRun
}

// An archivedRun is a run in an archive.
type archivedRun struct {
	scenario
	ID     string
	State  string            // as the old version told it
	Bodies map[string]string // SHA-256 by path, of artifacts
}

// A reply answers the question with a key. The default action is accept.
type reply struct {
	Key, Action, Content, File string
	Result                     string // instead of an action and content, for what a model or a client is asked
}

// buildPhotons builds the program with the photons of the archived folders,
// once, and returns its path.
func buildPhotons(t *testing.T) string {
	t.Helper()
	bin, err := photonsBinary()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

var photonsBinary = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(buildDir, "photons")
	if out, err := exec.Command("go", "build", "-o", bin, "./photons").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

var buildDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if buildDir, err = os.MkdirTemp("", "beam-durability-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(buildDir)
		return m.Run()
	}())
}

func TestOldFolders(t *testing.T) {
	all, err := filepath.Glob("testdata/*/manifest.json")
	if err != nil || len(all) == 0 {
		t.Fatal("there is nothing to open", err)
	}
	bin := buildPhotons(t)
	for _, file := range all {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m manifest
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(file, err)
		}
		for _, kind := range []string{"killed", "stopped", "backup"} {
			t.Run(m.Commit+"/"+kind, func(t *testing.T) {
				data := filepath.Join(t.TempDir(), "data")
				if kind == "backup" {
					runCommand(t, bin, "restore", filepath.Join(filepath.Dir(file), "backup"), "--data", data)
				} else {
					programtest.UnpackArchive(t, filepath.Join(filepath.Dir(file), kind+".tar.gz"), data)
				}
				m.checkFolder(t, bin, data, kind)
			})
		}
	}
}

// retainForever is a retention for runs that ended long ago.
const retainForever = "5000w"

// checkFolder starts the program on a folder, checks its runs, and finishes
// those that wait.
func (m *manifest) checkFolder(t *testing.T, bin, data, kind string) {
	s := startServer(t, bin, m.Token, "TEST_SEAT=taken twice", "--data", data, "--keep-for", retainForever)
	for _, r := range m.Runs {
		m.checkFoundRun(s.asOwner(t, r.Owner), r, kind)
	}
	c := startClient(t, bin, "--data", data)
	for _, r := range m.Runs {
		if s := s.asOwner(t, r.Owner); s != nil {
			t.Run(r.Name, func(t *testing.T) {
				s.t = t
				m.finishRun(s, r, kind)
				if r.Task != "" {
					c.checkTaskResult(t, r)
				}
			})
		}
	}
	if n := s.countRuns(); n != len(m.Runs) {
		t.Errorf("there are %d runs, want %d", n, len(m.Runs))
	}
	if errs := s.loggedLines("level=ERROR"); errs != "" {
		t.Errorf("it logs %s", errs)
	}
	m.checkLists(s)
	// Everything must be there again after a restart, with another token.
	s.stop()
	s = startServer(t, bin, m.Token+", renewed", "TEST_SEAT=taken twice", "--data", data, "--keep-for", retainForever)
	for _, r := range m.Runs {
		if s := s.asOwner(t, r.Owner); s != nil && r.End != "" {
			s.checkEnd(r)
		}
	}
	m.checkLists(s)
}

// checkLists checks that the operator's list has all runs, and the token's its own.
func (m *manifest) checkLists(s *server) {
	s.t.Helper()
	for _, name := range []string{"operator", "token"} {
		var list struct{ Runs []struct{ ID, Owner string } }
		if err := json.Unmarshal(s.asOwner(s.t, name).mustDo("GET", "/runs", asJSON, nil, "Accept", asJSON), &list); err != nil {
			s.t.Fatal(err)
		}
		owners := make(map[string]string)
		for _, r := range list.Runs {
			owners[r.ID] = r.Owner
		}
		for _, r := range m.Runs {
			if owner, found := owners[r.ID]; found != (name == "operator" || name == r.Owner) || found && !strings.HasPrefix(owner, r.Owner) {
				s.t.Errorf("the list of %s has the run %s, of %s: %v, of %q", name, r.Name, r.Owner, found, owner)
			}
		}
	}
}

// checkFoundRun checks a run as it is found. A run that was answered in advance
// may have continued since.
func (m *manifest) checkFoundRun(s *server, r archivedRun, kind string) {
	if s == nil || r.Restless || r.Stray && kind == "stopped" {
		return
	}
	now := s.getRun(r.ID)
	if now.State != r.State || now.Photon != r.Photon {
		s.t.Errorf("%s is %s of %s, want %s of %s: %s", r.Name, now.State, now.Photon, r.State, r.Photon, now.Error)
	}
	if r.State != "waiting" {
		return
	}
	open := make(map[string]bool)
	for _, a := range now.Asks {
		open[a.Key] = true
	}
	if len(r.Left) > 0 && !open[r.Left[0].Key] {
		s.t.Errorf("%s waits for %v, want %s", r.Name, now.Asks, r.Left[0].Key)
	}
}

// finishRun gives a run the replies that are left and checks its end.
func (m *manifest) finishRun(s *server, r archivedRun, kind string) {
	s.t.Helper()
	if !r.Stray || kind != "stopped" {
		for _, a := range r.Left {
			s.answerAsk(r.ID, a)
		}
	}
	if r.End != "" {
		s.checkEnd(r)
	}
	if r.Task == "" {
		if id := s.startRun(r.Photon, r.Args, m.idempotencyKey(r.scenario)); id != r.ID {
			s.t.Errorf("the request that began %s, repeated, begins %s", r.ID, id)
		}
	}
	for path, want := range r.Bodies {
		if got := s.digestOf(path); got != want {
			s.t.Errorf("%s has the SHA-256 %s, want %s", path, got, want)
		}
	}
}

// idempotencyKey returns the idempotency key of the request that starts a run.
func (m *manifest) idempotencyKey(sc scenario) string { return m.Commit + ", " + sc.Name }

// countRuns returns the number of runs of all owners.
func (s *server) countRuns() (n int) {
	s.t.Helper()
	for line := range strings.Lines(string(s.mustDo("GET", "/metrics", "", nil))) {
		if strings.HasPrefix(line, "beam_runs{") {
			var some int
			fmt.Sscan(line[strings.LastIndex(line, " "):], &some)
			n += some
		}
	}
	return n
}

// checkEnd waits until the run has ended and checks how.
func (s *server) checkEnd(r archivedRun) {
	s.t.Helper()
	now := s.waitForAsk(r.ID, "")
	if now.State != r.End || !strings.Contains(now.Error, r.Error) {
		s.t.Errorf("%s ended as %s %q, want %s %q", r.Name, now.State, now.Error, r.End, r.Error)
	}
	told := s.readStream(r.ID)
	for _, want := range r.Tells {
		if !strings.Contains(told, want) {
			s.t.Errorf("%s tells nothing of %s: %s; the server says\n%s", r.Name, want, told, s.err)
		}
	}
}
