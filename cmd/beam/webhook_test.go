package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// verifyNotice verifies a notice with the command that the documentation shows.
func verifyNotice(t *testing.T, secret string, r *http.Request, body []byte) {
	t.Helper()
	docs, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("(?m)^.*openssl dgst .*$").Find(docs)
	if command == nil {
		t.Fatal("the documentation has no command")
	}
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl isn't installed")
	}
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", string(command))
	c.Dir = filepath.Dir(file)
	c.Env = append(os.Environ(), "id="+r.Header.Get("webhook-id"), "timestamp="+r.Header.Get("webhook-timestamp"), "secret="+secret)
	out, err := c.CombinedOutput()
	if got := "v1," + strings.TrimSpace(string(out)); err != nil || got != r.Header.Get("webhook-signature") {
		t.Errorf("the command prints %s, %v, want %s", got, err, r.Header.Get("webhook-signature"))
	}
}

// TestWebhook checks that a webhook is told of each question once, also if Beam is killed
// before or after that, and can verify that.
func TestWebhook(t *testing.T) {
	type notice struct {
		request *http.Request
		body    []byte
	}
	notices := make(chan notice, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		notices <- notice{r, body}
	}))
	defer hook.Close()
	const secret = "0123456789abcdef0123456789abcdef"
	t.Setenv("BEAM_NOTIFY_SECRET", secret)
	data := t.TempDir()
	start := func() *server { return startServer(t, "--data", data, "--notify-webhook", hook.URL) }
	next := func() (n notice, askID string) {
		t.Helper()
		select {
		case n = <-notices:
		case <-time.After(programtest.WaitTimeout):
			t.Fatal("the webhook isn't told")
		}
		var told struct{ Data struct{ Ask, URL string } }
		if err := json.Unmarshal(n.body, &told); err != nil || !strings.HasSuffix(told.Data.URL, "/asks/"+told.Data.Ask) {
			t.Errorf("the notice is %s, %v", n.body, err)
		}
		return n, told.Data.Ask
	}
	s := startServer(t, "--data", data)
	run := s.startRun("wizard") // of whose question nobody was told
	s.signal(syscall.SIGKILL)
	s.waitForExit(programtest.WaitTimeout)
	s = start()
	first, askID := next()
	verifyNotice(t, secret, first.request, first.body)
	s.signal(syscall.SIGKILL)
	s.waitForExit(programtest.WaitTimeout)
	s = start()
	res, err := s.browser.Post(s.baseURL+"/mcp/request", "application/json", bytes.NewBufferString(`{"jsonrpc":"2.0","id":"`+askID+`","result":{"action":"accept","content":{"name":"Ada"}}}`))
	if err != nil || res.StatusCode != http.StatusAccepted {
		body, _ := io.ReadAll(res.Body)
		t.Fatal(res.Status, string(body), err)
	}
	res.Body.Close()
	if _, again := next(); again == askID || !strings.HasPrefix(again, run) {
		t.Errorf("the next notice is of %s, the first was of %s", again, askID)
	}
}
