//go:build linux

package durability

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A power failure is simulated: strace records every call with which the real
// program changes files and syncs them, and every response that it sends a
// client. A model of the disk (disk_test.go) replays the trace. After each sync,
// a folder is created from what has been synced until then: unsynced content is
// dropped, as are unsynced changes of names. (A second kind of loss keeps the
// names, as some file systems would, and a third some of the sectors, too.) The
// real program is started on each such folder. It must continue every run whose
// start it had acknowledged, and no question whose answer it had acknowledged may
// be open again, as far as the setting of --sync promises it. Syncs are at other
// places in every trace, but the requirements are the same. With BEAM_TEST_LONG
// set, the power is cut at every sync, in a workload that fills the write-ahead
// log; otherwise at some syncs of a short workload.

// A syncSetting is a value of --sync, and what it promises at a time.
type syncSetting struct {
	value    string
	every    int // of how many moments the power is cut at one
	promises func(a acknowledgment, now float64) bool
}

var syncSettings = []syncSetting{
	{"always", 16, func(acknowledgment, float64) bool { return true }},
	{"default", 8, func(a acknowledgment, _ float64) bool { return a.run.photon != briefPhoton }},
	{"interval", 4, func(a acknowledgment, now float64) bool { return now-a.time > maxSyncDelay.Seconds() }},
}

// maxSyncDelay is after what time everything is synced: a second, and what a busy machine needs to
// do so.
const maxSyncDelay = 3 * time.Second

// briefPhoton isn't durable, so its start is synced with the next that is.
const briefPhoton = "brief"

// An acknowledgment is a response that a client received.
type acknowledgment struct {
	status string // 201 or 202
	run    *workloadRun
	key    string // of the question that was answered
	time   float64
}

// A workloadRun is a run of the workload.
type workloadRun struct {
	id, photon string
	answers    []reply
	tells      []string
}

// tracedCalls lists the system calls that change files, and write, which sends
// responses.
const tracedCalls = "openat,close,write,pwrite64,fsync,fdatasync,ftruncate,fallocate,lseek,fcntl,mkdirat,unlinkat,renameat,renameat2," +
	// None of these is expected; the disk fails the test if one occurs.
	"?open,?creat,?mkdir,?rmdir,?unlink,?rename,?link,linkat,symlinkat,truncate,pwritev,pwritev2,writev,copy_file_range,sendfile,splice,sync_file_range"

func TestPowerLoss(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not there to record what reaches the disk")
	}
	bin := buildPhotons(t)
	for _, setting := range syncSettings {
		t.Run(setting.value, func(t *testing.T) {
			root := t.TempDir()
			w := &workload{t: t, bin: bin, root: root, data: filepath.Join(root, "state", "beam"), syncSetting: setting}
			rounds := 1
			if os.Getenv("BEAM_TEST_LONG") != "" {
				w.every, rounds = 1, 30
			}
			w.runWorkload(rounds)
			w.replayTraces()
			t.Logf("the power was cut %d times at %d moments, in the course of %d starts and answers", w.cuts, w.moments, len(w.acknowledged))
		})
	}
}

// A workload starts and answers runs under strace, and replays the traces.
type workload struct {
	t            *testing.T
	bin          string
	root         string // below which the disk begins
	data         string
	traces       []string
	acknowledged []acknowledgment
	syncSetting
	moments            int
	cuts               int
	version            int // of the disk, at the last moment, and what was told then
	acknowledgedBefore int
}

// startTraced starts the program under strace.
func (w *workload) startTraced() *server {
	w.t.Helper()
	trace := filepath.Join(w.t.TempDir(), "trace")
	w.traces = append(w.traces, trace)
	cmd := exec.Command("strace", "-f", "-qq", "-ttt", "-xx", "-s", "33554432", "-e", "signal=none", "--seccomp-bpf", "-e", "trace="+tracedCalls, "-o", trace,
		w.bin, "serve", "--addr", "127.0.0.1:0", "--data", w.data, "--sync", w.value, "--evict-after", "50ms", "--keep-for", retainForever)
	cmd.Env = append(os.Environ(), "TEST_SEAT=seat 12")
	return startCommand(w.t, cmd, "")
}

// killTraced sends a signal to the program that strace runs, and waits until it
// has exited.
func (w *workload) killTraced(s *server, sig syscall.Signal) {
	w.t.Helper()
	pid := s.cmd.Process.Pid
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		w.t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Kill(child, sig); err != nil {
		w.t.Fatal(err)
	}
	<-s.end
}

// runWorkload starts runs of each kind, answers them and continues them after a
// restart.
func (w *workload) runWorkload(rounds int) {
	s := w.startTraced()
	interview := w.startRun(s, "interview", interviewAnswers, interviewTells)
	vault := w.startRun(s, "vault", vaultAnswers, []string{"f.txt: 400000 bytes"})
	for n := range len(interviewAnswers) - 2 {
		w.answerRun(s, interview, n)
		w.answerRun(s, vault, n)
	}
	for range rounds {
		w.answerRun(s, w.startRun(s, "task", taskAnswer(strings.Repeat("long ", 40_000)), []string{"long long"}), 0)
	}
	w.startRun(s, briefPhoton, taskAnswer("none"), nil)
	w.killTraced(s, syscall.SIGTERM)
	s = w.startTraced()
	w.answerRun(s, interview, len(interviewAnswers)-2)
	w.answerRun(s, w.startRun(s, "task", taskAnswer("short"), []string{"short"}), 0)
	w.answerRun(s, interview, len(interviewAnswers)-1)
	s.waitForAsk(interview.id, "")
	w.answerRun(s, w.startRun(s, "vault", vaultAnswers, []string{"f.txt: 400000 bytes"}), 0)
	w.startRun(s, briefPhoton, taskAnswer("none"), nil)
	if w.value == "interval" {
		time.Sleep(maxSyncDelay + time.Second) // until what it promises holds for all of it
		w.startRun(s, "vault", vaultAnswers, nil)
	}
	w.killTraced(s, syscall.SIGKILL)
}

func (w *workload) startRun(s *server, photon string, answers []reply, tells []string) *workloadRun {
	w.t.Helper()
	r := &workloadRun{photon: photon, answers: answers, tells: tells}
	r.id = s.startRun(photon, "{}", fmt.Sprint(len(w.acknowledged)))
	w.acknowledged = append(w.acknowledged, acknowledgment{status: "201", run: r})
	return r
}

// answerRun answers a run's nth question, if it has that many.
func (w *workload) answerRun(s *server, r *workloadRun, n int) {
	w.t.Helper()
	if n < len(r.answers) {
		s.answerAsk(r.id, r.answers[n])
		w.acknowledged = append(w.acknowledged, acknowledgment{status: "202", run: r, key: r.answers[n].Key})
	}
}

// replayTraces replays the traces and cuts the power before each sync takes
// effect: with everything that was acknowledged since the last one.
func (w *workload) replayTraces() {
	d := newDisk(w.t, w.root)
	w.version, w.acknowledgedBefore = -1, -1
	told, now := 0, 0.0
	for _, trace := range w.traces {
		f, err := os.Open(trace)
		if err != nil {
			w.t.Fatal(err)
		}
		d.restart()
		replayTrace(w.t, f, func(c *call) {
			now = c.time
			d.beginCall(c)
			if c.name == "write" && d.open[c.intArg(0)] == nil && told < len(w.acknowledged) && strings.HasPrefix(c.args[1], "HTTP/1.1 "+w.acknowledged[told].status) {
				w.acknowledged[told].time = c.time
				told++
			}
		}, func(c *call) {
			if d.isSync(c) {
				w.checkLosses(d, told, c.time)
			}
			d.endCall(c)
		})
		f.Close()
		w.checkLosses(d, told, now)
	}
	if told != len(w.acknowledged) {
		w.t.Errorf("of %d answers of the program, the record has %d", len(w.acknowledged), told)
	}
}

// checkLosses checks all kinds of loss at this moment, unless neither the disk
// nor a client has received anything since the last.
func (w *workload) checkLosses(d *disk, told int, now float64) {
	if d.version == w.version && told == w.acknowledgedBefore {
		return
	}
	w.version, w.acknowledgedBefore = d.version, told
	if w.moments++; w.moments%w.every != 0 {
		return
	}
	promised := slices.DeleteFunc(slices.Clone(w.acknowledged[:told]), func(a acknowledgment) bool { return !w.promises(a, now) })
	for _, kind := range []loss{nothing, names, torn} {
		w.cuts++
		w.t.Run(fmt.Sprintf("%d", w.cuts), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "disk")
			d.root.restore(t, dir, kind, rand.New(rand.NewPCG(uint64(w.cuts), 0)))
			checkAfterLoss(t, w.bin, filepath.Join(dir, "state", "beam"), promised)
		})
	}
}

// checkAfterLoss starts the program on a folder, compares it with what was
// acknowledged, and finishes all runs.
func checkAfterLoss(t *testing.T, bin, data string, told []acknowledgment) {
	s := startServer(t, bin, "", "TEST_SEAT=taken twice", "--data", data, "--keep-for", retainForever)
	answered := make(map[*workloadRun]map[string]bool)
	for _, a := range told {
		if answered[a.run] == nil {
			answered[a.run] = make(map[string]bool)
		}
		answered[a.run][a.key] = true
	}
	for r, keys := range answered {
		if _, err := s.try("GET", "/runs/"+r.id, asJSON, nil, "Accept", asJSON); err != nil {
			t.Errorf("after %d were told, a run of %s that was started is gone: %v; %s", len(told), r.photon, err, s.err)
			continue
		}
		if r.photon == briefPhoton { // its process ended
			s.checkEnd(archivedRun{scenario: scenario{Name: r.photon, End: "interrupted"}, ID: r.id})
			continue
		}
		tells := r.tells
		if !keys[r.answers[0].Key] {
			tells = nil // its seat may have been reserved by the program that lost power, or not
		}
		if s.finishRun(r, keys) {
			s.checkEnd(archivedRun{scenario: scenario{Name: r.photon, End: "completed", Tells: tells}, ID: r.id})
		}
	}
}

// finishRun answers the questions that were not answered before, and reports
// whether the run ended without another question.
func (s *server) finishRun(r *workloadRun, keys map[string]bool) bool {
	var now state
	asksAgain := false
	hasEnded := func() bool {
		now = s.getRun(r.id)
		for _, a := range now.Asks {
			if asksAgain = keys[a.Key]; asksAgain {
				s.t.Errorf("the run of %s asks for %s again, whose answer was acknowledged", r.photon, a.Key)
				break
			}
			n := slices.IndexFunc(r.answers, func(r reply) bool { return r.Key == a.Key })
			s.answerAsk(r.id, r.answers[n])
			keys[a.Key] = true
		}
		return asksAgain || now.State != "running" && now.State != "waiting"
	}
	if !programtest.Poll(hasEnded) {
		s.t.Errorf("the run of %s is %+v; %s", r.photon, now, s.err)
		return false
	}
	return !asksAgain
}
