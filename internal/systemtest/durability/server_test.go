package durability

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// runCommand runs a command until it exits.
func runCommand(t testing.TB, bin string, args ...string) {
	t.Helper()
	if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", bin, strings.Join(args, " "), err, out)
	}
}

// A server is a running beam serve, as seen by one of its owners.
type server struct {
	t      testing.TB
	cmd    *exec.Cmd
	err    *programtest.Console
	end    chan struct{} // closed when the process has ended
	origin string
	token  string
	owners map[string]owner
	me     owner
}

// An owner is a client and its credentials.
type owner struct {
	*http.Client
	bearer string
}

// startServer starts beam serve. Without a token, a session can own runs, too.
func startServer(t testing.TB, bin, token, env string, args ...string) *server {
	t.Helper()
	if token != "" {
		args = append(args, "--token", token)
	}
	cmd := exec.Command(bin, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), env)
	return startCommand(t, cmd, token)
}

// startCommand starts a command that is, or runs, beam serve.
func startCommand(t testing.TB, cmd *exec.Cmd, token string) *server {
	t.Helper()
	out := programtest.NewConsole()
	s := &server{t: t, cmd: cmd, err: programtest.NewConsole(), token: token, end: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = out, s.err
	s.cmd.Env = append(s.cmd.Environ(), "BEAM_PRINT_SIGN_IN=true") // earlier versions have no such flag
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	go func() {
		_ = s.cmd.Wait()
		close(s.end)
		cancel() // it will not say where it listens
	}()
	t.Cleanup(func() { s.signal(syscall.SIGKILL) })
	var err error
	if s.origin, err = out.WaitForBaseURL(ctx); err != nil {
		t.Fatal(err, s.err)
	}
	operator, err := out.SignIn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.owners = map[string]owner{"operator": {operator, ""}, "token": {&http.Client{}, token}, "session": {&http.Client{Jar: jar}, ""}}
	s.me = s.owners["operator"]
	return s
}

// asOwner returns the server as an owner sees it, or nil if nobody can be that
// owner now.
func (s *server) asOwner(t testing.TB, name string) *server {
	if name == "session" && s.token != "" || name == "token" && s.token == "" {
		return nil
	}
	seen := *s
	seen.t, seen.me = t, s.owners[name]
	return &seen
}

// signal sends the program a signal and waits until it has exited.
func (s *server) signal(sig syscall.Signal) {
	_ = s.cmd.Process.Signal(sig) // it may have ended
	<-s.end
}

func (s *server) stop() { s.signal(syscall.SIGTERM) }

// loggedLines returns the log lines that contain a text.
func (s *server) loggedLines(text string) string {
	var lines []string
	for line := range strings.Lines(s.err.String()) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// mustDo makes a request and returns the response body. It fails the test
// unless the response is a success.
func (s *server) mustDo(method, path, mediaType string, body io.Reader, header ...string) []byte {
	s.t.Helper()
	raw, err := s.try(method, path, mediaType, body, header...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return raw
}

func (s *server) try(method, path, mediaType string, body io.Reader, header ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), programtest.WaitTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.origin+path, body)
	if err != nil {
		return nil, err
	}
	if s.me.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+s.me.bearer)
	}
	r.Header.Set("Content-Type", mediaType)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := s.me.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", response.Status, raw)
	}
	return raw, err
}

const asJSON = "application/json"

// startRun starts a run and returns its id, which is the same for the same key.
func (s *server) startRun(photon, args, key string) string {
	s.t.Helper()
	var begun struct{ ID string }
	s.decode(s.mustDo("POST", "/photons/"+photon+"/runs", asJSON, strings.NewReader(args), "Idempotency-Key", key), &begun)
	return begun.ID
}

func (s *server) decode(raw []byte, v any) {
	s.t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		s.t.Fatalf("%v: %s", err, raw)
	}
}

// A state is a run as the server describes it.
type state struct {
	ID, Photon, State, Error string
	Last                     int
	Asks                     []struct{ ID, Key string }
}

func (s *server) getRun(id string) (r state) {
	s.t.Helper()
	s.decode(s.mustDo("GET", "/runs/"+id, asJSON, nil, "Accept", asJSON), &r)
	return r
}

// waitForAsk waits until a run asks the question with a key, or has ended if
// the key is empty.
func (s *server) waitForAsk(id, key string) state {
	s.t.Helper()
	var r state
	asksOrHasEnded := func() bool {
		r = s.getRun(id)
		for _, a := range r.Asks {
			if a.Key == key {
				return true
			}
		}
		return key == "" && r.State != "running" && r.State != "waiting"
	}
	if !programtest.Poll(asksOrHasEnded) {
		s.t.Fatalf("the run is %+v, want the question %q; the server says\n%s", r, key, s.err)
	}
	return r
}

// answerAsk answers a run's question once it is asked.
func (s *server) answerAsk(id string, a reply) {
	s.t.Helper()
	ask := ""
	for _, open := range s.waitForAsk(id, a.Key).Asks {
		if open.Key == a.Key {
			ask = open.ID
		}
	}
	switch {
	case a.File != "":
		s.uploadFile(ask, a.File)
	case a.Result != "":
		s.mustDo("POST", "/mcp/request", asJSON, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, ask, a.Result)))
	case a.Action != "":
		s.mustDo("POST", "/mcp/request", asJSON, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":%q}}`, ask, a.Action)))
	case strings.HasPrefix(a.Content, `{"secret"`):
		var content struct{ Secret string }
		s.decode([]byte(a.Content), &content)
		s.mustDo("POST", "/mcp/request?action=accept&ask="+ask, "application/x-www-form-urlencoded", strings.NewReader("secret="+content.Secret))
	default:
		s.mustDo("POST", "/mcp/request", asJSON, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, ask, a.Content)))
	}
}

// uploadContent is the content of every file that is uploaded.
var uploadContent = strings.Repeat("0123456789", 40_000)

func (s *server) uploadFile(ask, name string) {
	s.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, uploadContent)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		s.t.Fatal(err)
	}
	s.mustDo("POST", "/mcp/request?action=accept&ask="+ask, w.FormDataContentType(), &form)
}

// readStream returns everything in a run's stream.
func (s *server) readStream(id string) string {
	s.t.Helper()
	return string(s.mustDo("GET", "/runs/"+id+"/events", "", nil))
}

// digestOf returns the SHA-256 of the content at a path.
func (s *server) digestOf(path string) string {
	s.t.Helper()
	sum := sha256.Sum256(s.mustDo("GET", path, "", nil))
	return hex.EncodeToString(sum[:])
}
