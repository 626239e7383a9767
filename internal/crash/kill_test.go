// Package crash kills the real program, with the real signal, at random
// moments, and checks that what is left is what was promised.
package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// killCount is how often the program is killed. BEAM_KILLS overrides it.
func killCount(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("BEAM_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return 2
	}
	return 10
}

// answers are the answers that every client gives.
var answers = map[string]string{
	"name": `{"name":"Ada"}`, "account": `{"email":"ada@example.org","role":"admin"}`, "confirm": `{"confirm":true}`,
	"preferences": `{"outputFormat":"json"}`,
}

// A program is killed and restarted at the same address.
type program struct {
	t         *testing.T
	bin, data string
	addr      string
	cmd       *exec.Cmd
}

func TestMain(m *testing.M) {
	var err error
	if bins, err = os.MkdirTemp("", "beam-crash-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(bins)
	os.Exit(status)
}

// bins is the folder for the built program.
var bins string

// build builds the program, once for all tests.
var build = sync.OnceValues(func() (bin string, err error) {
	bin = filepath.Join(bins, "beam")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/photon-beam/beam/cmd/beam").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

// buildProgram builds the program and returns its path.
func buildProgram(t *testing.T) string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func (p *program) start() {
	p.t.Helper()
	addr := "127.0.0.1:0"
	if p.addr != "" {
		addr = p.addr
	}
	p.cmd = exec.Command(p.bin, "--addr", addr, "--data", p.data, "--log-level", "error")
	p.cmd.Stderr = p.t.Output()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.t.Fatal("the program said nothing:", err)
	}
	go io.Copy(io.Discard, out)
	if p.addr == "" { // and the same ever after
		p.addr = strings.TrimPrefix(strings.TrimSpace(line[strings.LastIndex(line, " ")+1:]), "http://")
	}
}

func (p *program) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// A client starts wizards, follows them to their end across crashes, and
// answers their questions. It keeps what it received.
type client struct {
	t       *testing.T
	program *program
	http    *http.Client
	// eventData has each event's data by its id: an event that is sent again must
	// be the same.
	eventData map[string]string
	// thinkTime is how long an answer takes.
	thinkTime time.Duration
}

func newClient(t *testing.T, p *program) *client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, program: p, http: &http.Client{Jar: jar, Transport: &http.Transport{}}, eventData: map[string]string{}}
}

// doRetrying makes a request and retries it while the program is down.
func (c *client) doRetrying(ctx context.Context, method, path, body string, header ...string) (*http.Response, error) {
	for {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+c.program.addr+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := c.http.Do(r)
		if err == nil && response.StatusCode != http.StatusServiceUnavailable {
			return response, nil
		}
		if err == nil {
			response.Body.Close()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond): // it is being started anew
		}
	}
}

// completeRun runs a photon from start to result. The start has an idempotency
// key, so that repeating it after a crash doesn't start a second run.
func (c *client) completeRun(ctx context.Context, photon, args, key string) (id, result string, err error) {
	r, err := c.doRetrying(ctx, "POST", "/photons/"+photon+"/runs", args, "Idempotency-Key", key)
	if err != nil {
		return "", "", err
	}
	raw, err := io.ReadAll(r.Body)
	r.Body.Close()
	var started struct{ ID, Events string }
	if err != nil || json.Unmarshal(raw, &started) != nil || started.ID == "" {
		if err != nil {
			return c.completeRun(ctx, photon, args, key) // the response broke off
		}
		return "", "", fmt.Errorf("start: %s %s", r.Status, raw)
	}
	last := ""
	for result == "" {
		if result, last, err = c.followEvents(ctx, started.Events, last); err != nil {
			return started.ID, "", err
		}
	}
	return started.ID, result, nil
}

// followEvents reads a stream until it ends, and answers the questions in it.
func (c *client) followEvents(ctx context.Context, path, after string) (result, last string, err error) {
	var header []string
	if after != "" {
		header = []string{"Last-Event-ID", after}
	}
	r, err := c.doRetrying(ctx, "GET", path, "", header...)
	if err != nil {
		return "", after, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return "", after, fmt.Errorf("follow: %s", r.Status)
	}
	last = after
	for id, data := range events(r.Body) {
		if before, again := c.eventData[path+id]; again {
			return "", last, fmt.Errorf("event %s of %s was told again: %s, before: %s", id, path, data, before)
		}
		c.eventData[path+id], last = data, id
		var m struct {
			ID, Method string
			Params     struct {
				Meta struct {
					Key string `json:"beam/key"`
				} `json:"_meta"`
			}
			Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return "", last, err
		}
		if m.Result != nil {
			return string(m.Result), last, nil
		}
		if m.Method == "elicitation/create" {
			if err := c.answerAsk(ctx, m.ID, m.Params.Meta.Key); err != nil {
				return "", last, err
			}
		}
	}
	return "", last, ctx.Err()
}

// events yields the ids and data of the events of a stream. An event that is
// cut off before its empty line isn't yielded.
func events(r io.Reader) iter.Seq2[string, string] {
	return func(yield func(id, data string) bool) {
		id, data := "", ""
		for lines := bufio.NewScanner(r); lines.Scan(); {
			switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
			case "id":
				id = value
			case "data":
				data = value
			case "":
				if data != "" && !yield(id, data) {
					return
				}
				data = ""
			}
		}
	}
}

// answerAsk answers a question until the answer is known to be recorded.
func (c *client) answerAsk(ctx context.Context, id, key string) error {
	select {
	case <-ctx.Done():
	case <-time.After(c.thinkTime):
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, id, answers[key])
	r, err := c.doRetrying(ctx, "POST", "/mcp/request", body)
	if err != nil {
		return err
	}
	raw, _ := io.ReadAll(r.Body)
	r.Body.Close()
	switch r.StatusCode {
	case http.StatusAccepted, http.StatusConflict: // it was recorded before the crash
		return nil
	}
	return fmt.Errorf("answer to %s: %s %s", key, r.Status, raw)
}

func TestKilledRepeatedly(t *testing.T) {
	times := killCount(t)
	p := &program{t: t, bin: buildProgram(t), data: filepath.Join(t.TempDir(), "data")}
	p.start()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second+time.Duration(times)*3*time.Second)
	defer cancel()

	const clients = 50
	results := make(map[string]string) // by run
	var mu sync.Mutex
	var over atomic.Bool
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			c := newClient(t, p)
			for i := 0; !over.Load(); i++ {
				id, result, err := c.completeRun(ctx, "wizard", "{}", fmt.Sprintf("client %d wizard %d", n, i))
				if err != nil {
					t.Errorf("client %d, wizard %d, run %s: %v", n, i, id, err)
					return
				}
				mu.Lock()
				if before, again := results[id]; again {
					t.Errorf("run %s was started twice: %s, %s", id, before, result)
				}
				results[id] = result
				mu.Unlock()
			}
		})
	}
	for range times {
		time.Sleep(200*time.Millisecond + rand.N(600*time.Millisecond)) // the moment is to be any
		p.kill()
		p.start()
	}
	over.Store(true)
	all.Wait()
	p.kill()
	t.Logf("%d kills, %d wizards", times, len(results))
	checkLog(t, filepath.Join(p.data, "log"), results)
}

// checkLog reads all logs and checks them: ordinals without gaps, one answer
// for each question, one end for each run, one record for each step, and the
// result that the client received, made of its answers and the recorded number.
func checkLog(t *testing.T, dir string, results map[string]string) {
	t.Helper()
	l, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	runs := make(map[string]*runChecker)
	for a, err := range l.Scan(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		r := runs[a.Run]
		if r == nil {
			r = &runChecker{asked: map[uint64]bool{}, stepped: map[string]string{}}
			runs[a.Run] = r
		}
		for _, e := range a.Entries {
			if err := r.addEntry(e); err != nil {
				t.Errorf("run %s, entry %d: %v", a.Run, e.Seq, err)
			}
		}
	}
	for id, told := range results {
		r := runs[id]
		switch {
		case r == nil:
			t.Errorf("run %s has no log", id)
		case r.finished == nil:
			t.Errorf("run %s has not finished, and a client was told %s", id, told)
		case r.finished.Status != runlog.Completed:
			t.Errorf("run %s ended as %s: %s", id, r.finished.Status, r.finished.Error)
		default:
			for _, want := range []string{`"Ada"`, `"ada@example.org"`, `"admin"`, r.stepped["reserve"]} {
				if want == "" || !bytes.Contains(r.finished.Result, []byte(want)) || !strings.Contains(told, want) {
					t.Errorf("run %s: %q is missing in its result %s or in what was told: %s", id, want, r.finished.Result, told)
				}
			}
		}
	}
	if len(results) == 0 {
		t.Error("no wizard came to its end")
	}
}

// A runChecker checks the entries of one run.
type runChecker struct {
	last     uint64
	asked    map[uint64]bool // false once it is settled
	stepped  map[string]string
	finished *runlog.Finished
}

func (r *runChecker) addEntry(e runlog.Entry) error {
	if e.Seq != r.last+1 {
		return fmt.Errorf("it follows entry %d", r.last)
	}
	r.last = e.Seq
	if r.finished != nil {
		return errors.New("it follows the finish")
	}
	switch e.Kind {
	case runlog.KindAsked:
		r.asked[e.Seq] = true
	case runlog.KindAnswered, runlog.KindWithdrawn:
		var s struct{ Ask uint64 }
		if err := json.Unmarshal(e.Data, &s); err != nil {
			return err
		}
		if !r.asked[s.Ask] {
			return fmt.Errorf("question %d is settled twice, or was not asked", s.Ask)
		}
		r.asked[s.Ask] = false
	case runlog.KindStepped:
		s, err := runlog.Decode[runlog.Stepped](e)
		if err != nil {
			return err
		}
		if _, again := r.stepped[s.Key]; again {
			return fmt.Errorf("step %s is recorded twice", s.Key)
		}
		r.stepped[s.Key] = string(s.Value)
	case runlog.KindFinished:
		f, err := runlog.Decode[runlog.Finished](e)
		if err != nil {
			return err
		}
		r.finished = &f
	}
	return nil
}
