package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// The tests start this binary again as the program. If killedFile is set, the program
// kills itself wherever its generator calls Beam: once at each place, which the file
// records.
const (
	asProgram  = "MIGRATE_AS_PROGRAM"
	killedFile = "MIGRATE_KILLED"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asProgram) == "":
		os.Exit(m.Run())
	case os.Getenv(killedFile) == "":
		main()
	}
	migrator, err := newMigrator(os.Getenv("MIGRATE_DATABASE"))
	if err != nil {
		panic(err)
	}
	beam.Main(generators.New("migrate", func(ctx context.Context, in struct{}, yield generators.Yield) (generators.MarkdownText, error) {
		defer killOnce("after the last call")
		return migrator.migrate(ctx, in, killingYield(yield))
	}, options))
}

// killingYield returns a yield that kills the process before and after each call: before
// and after a step runs, before and after its outcome is recorded, and before and after a
// question is recorded.
func killingYield(yield generators.Yield) generators.Yield {
	return func(e generators.Event) bool {
		var call string
		if c, ok := driver.CallOf(e); ok {
			call = "call " + c.Key
		} else if s, ok := e.(*generators.Stepped); ok {
			call = "outcome of " + s.Key
		} else {
			return yield(e)
		}
		killOnce("before " + call)
		defer killOnce("after " + call)
		return yield(e)
	}
}

// killOnce kills the process as kill -9 does, unless it already has at this place.
func killOnce(place string) {
	path := os.Getenv(killedFile)
	before, _ := os.ReadFile(path) // there is none at first
	if strings.Contains(string(before), place+"\n") {
		return
	}
	if err := os.WriteFile(path, append(before, place+"\n"...), 0o600); err != nil {
		panic(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	_ = self.Kill()
	select {}
}

// command returns a command that runs the program.
func command(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Env = append(os.Environ(), asProgram+"=1", "MIGRATE_DATABASE="+filepath.Join(folder, "shop.db"), "BEAM_DATA="+filepath.Join(folder, "data"))
	c.Stderr = t.Output()
	return c
}

// A browser talks to the program, which may be restarted at another port.
type browser struct {
	t      *testing.T
	folder string
	env    []string
	http   *http.Client
	site   string
	cmd    *exec.Cmd
}

func newBrowser(t *testing.T, env ...string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, folder: t.TempDir(), env: env, http: &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// start starts the program. It reports false if the program ends before it listens.
func (b *browser) start() bool {
	b.t.Helper()
	b.cmd = command(b.t, b.folder, "serve", "--addr", "127.0.0.1:0", "--log-level", "error")
	b.cmd.Env = append(b.cmd.Env, b.env...)
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			_ = b.cmd.Wait() // killed
			return false
		}
		if _, address, ok := strings.Cut(line, "Beam listens on "); ok {
			b.site = strings.TrimSuffix(strings.TrimSpace(address), "/")
			go io.Copy(io.Discard, out)
			return true
		}
	}
}

// kill kills the program, if it hasn't ended by itself.
func (b *browser) kill() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

func (b *browser) send(method, path, body string, header ...string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.site+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := b.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, string(raw), err
}

// startRun starts the run, or finds it again after a crash. The browser has a session before:
// if the crash took the response with the session's cookie, another session would start
// another run.
func (b *browser) startRun() (id string, err error) {
	if status, _, err := b.send("GET", "/", ""); err != nil || status != http.StatusOK {
		return "", fmt.Errorf("opening the first page: %d %v", status, err)
	}
	status, text, err := b.send("POST", "/photons/migrate/runs", "{}", "Content-Type", "application/json", "Idempotency-Key", "the only run")
	if err != nil {
		return "", err
	}
	var run struct{ ID string }
	if err := json.Unmarshal([]byte(text), &run); err != nil || run.ID == "" {
		return "", fmt.Errorf("starting a run: %d %s", status, text)
	}
	return run.ID, nil
}

// An rpcMessage is what the browser reads of a JSON-RPC message.
type rpcMessage struct {
	ID, Method string
	Params     struct{ Message, Mode, URL string }
	Result     *struct {
		Content []struct{ Text string }
		IsError bool
	}
	raw string
}

// messages yields the messages of a run until the last one or a crash.
func (b *browser) messages(run string, yield func(rpcMessage) bool) error {
	r, err := http.NewRequestWithContext(b.t.Context(), "GET", b.site+"/runs/"+run+"/events", nil)
	if err != nil {
		return err
	}
	res, err := b.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var m rpcMessage
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return err
		}
		if m.raw = data; !yield(m) {
			return nil
		}
	}
}

// A run survives kill -9 before and after every call of its generator: what was approved
// is applied once, and the question is asked once.
func TestKilledAtEveryCall(t *testing.T) {
	places := filepath.Join(t.TempDir(), "killed")
	b := newBrowser(t, killedFile+"="+places)
	asked := map[string]bool{}
	var result rpcMessage
	deadline := time.Now().Add(3 * time.Minute)
	for result.Result == nil && time.Now().Before(deadline) {
		if !b.start() {
			continue
		}
		run, err := b.startRun()
		if err == nil {
			_ = b.messages(run, func(m rpcMessage) bool {
				if m.Method == "elicitation/create" {
					asked[m.ID] = true
					answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"apply":"yes"}}}`, m.ID)
					status, text, err := b.send("POST", "/mcp/request", answer, "Content-Type", "application/json")
					if err == nil && status != http.StatusAccepted && status != http.StatusConflict { // conflict: answered before the crash
						t.Errorf("the answer got %d %s", status, text)
					}
				}
				if m.Result != nil {
					result = m
				}
				return m.Result == nil
			})
		}
		if result.Result == nil {
			_ = b.cmd.Wait() // it is about to kill itself
		}
	}
	b.kill()
	if result.Result == nil || result.Result.IsError || len(asked) != 1 {
		t.Fatalf("the run asked %d questions and ended with %s", len(asked), result.raw)
	}
	killed, err := os.ReadFile(places)
	if err != nil {
		t.Fatal(err)
	}
	const want = 4*5 + 2 + 1 // four for each step, two for the question, and the end
	if n := strings.Count(string(killed), "\n"); n != want {
		t.Errorf("the program was killed at %d places, want %d:\n%s", n, want, killed)
	}
	db, err := openDatabase(filepath.Join(b.folder, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkMigrated(t, db)
}

// Wherever the question is answered, its SQL is seen first.
func TestEverySurfaceShowsTheSQL(t *testing.T) {
	b := newBrowser(t)
	if !b.start() {
		t.Fatal("the program doesn't start")
	}
	defer b.kill()
	run, err := b.startRun()
	if err != nil {
		t.Fatal(err)
	}
	var asked rpcMessage
	if err := b.messages(run, func(m rpcMessage) bool { asked = m; return m.Method != "elicitation/create" }); err != nil {
		t.Fatal(err)
	}
	checkMessage(t, asked.Params.Message)
	for _, path := range []string{"/runs/" + run, "/asks/" + asked.ID, "/asks"} {
		status, page, err := b.send("GET", path, "", "Accept", "text/html")
		if err != nil || status != http.StatusOK || !strings.Contains(page, "/asks/"+asked.ID+"/evidence/3") || !strings.Contains(page, "004_drop_fax.sql") {
			t.Errorf("%s doesn't show the SQL (%d, %v): %s", path, status, err, page)
		}
	}
	if _, sql, err := b.send("GET", "/asks/"+asked.ID+"/evidence/3", ""); err != nil || sql != "ALTER TABLE customers DROP COLUMN fax;\n" {
		t.Errorf("the evidence is %q, %v", sql, err)
	}
}

// checkMessage checks that the message of a question starts with what is asked, and has
// all of the SQL.
func checkMessage(t *testing.T, message string) {
	t.Helper()
	if !strings.HasPrefix(message, "Apply 4 migrations to shop.db?\n\nAnswer “Apply” or “Keep as it is”. This can’t be undone.\n\nShown by the tool migrate:\n```\n001_customers_and_orders.sql\nCREATE TABLE customers (") ||
		!strings.HasSuffix(message, "004_drop_fax.sql\nALTER TABLE customers DROP COLUMN fax;\n```") {
		t.Errorf("the message is %s", message)
	}
}
