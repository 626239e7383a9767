package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A server is a beam serve process with its operator's browser.
type server struct {
	*program
	baseURL string
	browser *http.Client
}

func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	return startServerProgram(t, "beam", args...)
}

func startServerProgram(t testing.TB, name string, args ...string) *server {
	t.Helper()
	out := programtest.NewConsole()
	s := &server{program: startProgram(t, func(c *exec.Cmd) { c.Stdout = out }, name, append([]string{"serve", "--print-sign-in", "--addr", "127.0.0.1:0"}, args...)...)}
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	var err error
	if s.baseURL, err = out.WaitForBaseURL(ctx); err != nil {
		t.Fatal(err)
	}
	if s.browser, err = out.SignIn(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// getJSON requests a path as JSON and decodes the response.
func (s *server) getJSON(path string, v any) {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.baseURL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	response, err := s.browser.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(v); err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatal(path, response.Status, err)
	}
}

// startRun starts a run and returns its id.
func (s *server) startRun(photon string) string {
	s.t.Helper()
	r, err := s.browser.Post(s.baseURL+"/photons/"+photon+"/runs", "application/json", strings.NewReader("{}"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	var begun struct{ ID string }
	if err := json.NewDecoder(r.Body).Decode(&begun); err != nil || r.StatusCode != http.StatusCreated {
		s.t.Fatal("starting:", r.Status, err)
	}
	return begun.ID
}

// A runInfo is the JSON of a run.
type runInfo struct {
	ID, Photon, State, Error string
	Asks                     []struct{ ID, Key string }
}

// waitForAsk waits until a run has an open question with the given key, and returns
// the question's id. With an empty key, it waits until the run has ended.
func (s *server) waitForAsk(id, key string) string {
	s.t.Helper()
	var r runInfo
	asksOrHasEnded := func() bool {
		r = runInfo{}
		s.getJSON("/runs/"+id, &r)
		return len(r.Asks) > 0 && r.Asks[0].Key == key || key == "" && r.State != "running" && r.State != "waiting"
	}
	if !programtest.Poll(asksOrHasEnded) {
		s.t.Fatalf("the run is %+v, want the question %q", r, key)
	}
	if key == "" {
		return ""
	}
	return r.Asks[0].ID
}

// waitWhileWorking waits until a run waits or has ended, and returns it.
func (s *server) waitWhileWorking(id string) (r runInfo) {
	s.t.Helper()
	waitsOrHasEnded := func() bool {
		r = runInfo{}
		s.getJSON("/runs/"+id, &r)
		return r.State != "running"
	}
	if !programtest.Poll(waitsOrHasEnded) {
		s.t.Fatalf("the run is %+v", r)
	}
	return r
}

// readStream returns a run's whole stream.
func (s *server) readStream(id string) string {
	s.t.Helper()
	r, err := s.browser.Get(s.baseURL + "/runs/" + id + "/events")
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	all, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(all)
}

// uploadFile answers a question for a file.
func (s *server) uploadFile(ask, content string) {
	s.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "f.txt")
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		s.t.Fatal(err)
	}
	r, err := s.browser.Post(s.baseURL+"/mcp/request?action=accept&ask="+ask, w.FormDataContentType(), &form)
	if err != nil || r.StatusCode >= 300 {
		s.t.Fatal("handing in a file:", r, err)
	}
	r.Body.Close()
}

// waitForAsks waits until the inbox has n questions, and returns their ids.
func (s *server) waitForAsks(n int) []string {
	s.t.Helper()
	var ids []string
	hasAll := func() bool {
		var inbox struct{ Asks []struct{ ID string } }
		s.getJSON("/asks", &inbox)
		ids = nil
		for _, a := range inbox.Asks {
			ids = append(ids, a.ID)
		}
		return len(ids) == n
	}
	if !programtest.Poll(hasAll) {
		s.t.Fatalf("the inbox has %d questions, want %d", len(ids), n)
	}
	return ids
}

func (s *server) answer(ask, content string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, ask, content)
	r, err := s.browser.Post(s.baseURL+"/mcp/request", "application/json", strings.NewReader(body))
	if err != nil || r.StatusCode != http.StatusAccepted {
		s.t.Fatal("answering:", r, err)
	}
	r.Body.Close()
}
