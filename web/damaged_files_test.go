package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// damageBlobs changes a byte in the middle of each stored file of a run.
func (s *site) damageBlobs(run string) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.blobs, run, "*"))
	if err != nil || len(files) == 0 {
		s.t.Fatal("the run has no stored files", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		content[len(content)/2] ^= 1
		if err := os.WriteFile(file, content, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Whoever asks for a stored file that was changed on the disk gets none of it, and is told
// which file of which run it is.
func TestDamagedFilesAreNotServed(t *testing.T) {
	draw := generators.New("draw", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.File("plan.bin", "application/octet-stream", bytes.Repeat([]byte("plan "), 50_000)))
		yield(generators.Markdown("Report", strings.Repeat("All is well. ", 50_000)))
		yield(generators.Status("Drawn."))
		return strings.Repeat("result ", 300_000), nil
	}, nil)
	s := newSite(t, "", draw)
	p := s.newSession()
	run := p.startAndEnd("draw", "{}")
	artifact := ""
	p.follow(run.Events, "", func(e event) bool {
		params, err := json.Marshal(e.msg.Params)
		artifact = "/runs/" + run.ID + "/artifacts/" + e.id
		return err == nil && bytes.Contains(params, []byte("plan.bin"))
	})
	if got := p.request("GET", artifact, ""); got.StatusCode != http.StatusOK || len(readText(t, got)) != 250_000 {
		t.Fatal(artifact, got.Status)
	}
	s.damageBlobs(run.ID)
	file := `the file "plan.bin" of run ` + run.ID + ` is damaged`
	for what, headers := range map[string][]string{
		"the whole": nil, "a range": {"Range", "bytes=0-9"}, "the end": {"Range", "bytes=-5"}, "as JSON": {"Accept", "application/json"}, "as a page": {"Accept", "text/html"},
	} {
		got := p.request("GET", artifact, "", headers...)
		text := strings.NewReplacer("&#34;", `"`, `\"`, `"`).Replace(readText(t, got))
		if got.StatusCode != http.StatusInternalServerError || !strings.Contains(text, file[1:]) || strings.Contains(text, "plan plan") {
			t.Errorf("%s: status %d, %.300s", what, got.StatusCode, text)
		}
	}
	if got := p.request("GET", "/runs/"+run.ID+"/result", ""); got.StatusCode != http.StatusInternalServerError || !strings.Contains(readText(t, got), "he result of run "+run.ID+" is damaged") {
		t.Errorf("the result has status %d", got.StatusCode)
	}
	// What isn't damaged is still there.
	page := strings.ReplaceAll(p.page("/runs/"+run.ID), "&#34;", `"`)
	if !strings.Contains(page, "Drawn.") {
		t.Errorf("the page is %s", page)
	}
	exported := readText(t, p.request("GET", "/runs/"+run.ID+"/export?format=html", ""))
	if !strings.Contains(exported, "Drawn.") || !strings.Contains(exported, "of run "+run.ID+" is damaged") || strings.Contains(exported, "All is") {
		t.Errorf("the export is %s", exported)
	}
	events := p.follow(run.Events, "", nil)
	last, err := json.Marshal(events[len(events)-1].msg)
	if err != nil || !bytes.Contains(last, []byte("of run "+run.ID+" is damaged")) || bytes.Contains(last, []byte("result result")) {
		t.Errorf("the last message is %s", last)
	}
}

// An event whose data is damaged is told in its place, and a result that was in the log's
// last entry in its own.
func TestDamagedEntries(t *testing.T) {
	talk := generators.New("talk", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.Status("Before."))
		yield(generators.Log(generators.Info, json.RawMessage(`["`+strings.Repeat("x", 60_000)+`"]`)))
		yield(generators.Status("After."))
		return strings.Repeat("result ", 100_000), nil
	}, nil)
	s := newSite(t, "", talk)
	p := s.newSession()
	run := p.startAndEnd("talk", "{}")
	s.damageBlobs(run.ID)
	page := p.page("/runs/" + run.ID)
	for _, want := range []string{"Before.", "After.", "(finished) of run " + run.ID + " is damaged"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "result result") {
		t.Error("the page has the damaged result")
	}
	if got := p.requestJSON("GET", "/runs/"+run.ID+"/export?format=json", ""); !strings.Contains(readText(t, got), "of run "+run.ID+" is damaged") {
		t.Errorf("the export has status %d", got.StatusCode)
	}
}

// A tool that reads a damaged upload gets an error that names it, and not what it has become.
func TestToolReadsDamagedUpload(t *testing.T) {
	count := generators.New("count", func(_ context.Context, _ struct{}, yield generators.Yield) (int, error) {
		f, err := ask.File(yield, "file", "Which?")
		if err != nil {
			return 0, err
		}
		if ok, err := ask.Confirm(yield, "go", "Now?"); err != nil || !ok {
			return 0, err
		}
		r, err := f.Open()
		if err != nil {
			return 0, err
		}
		defer r.Close()
		n, err := io.Copy(io.Discard, r)
		return int(n), err
	}, nil)
	s := newSite(t, "", count)
	p := s.newSession()
	run := p.startRun("count", "{}")
	p.uploadFile(p.waitForAsk(run, 1), "sales.csv", "a,b\n1,2\n")
	id := p.waitForAsk(run, 2)
	s.damageBlobs(run.ID)
	expectStatus(t, p.answerRPC(id, acceptResult(`{"go":true}`)), http.StatusAccepted)
	events := p.follow(run.Events, "", nil)
	last, err := json.Marshal(events[len(events)-1].msg)
	if want := `the uploaded file \"sales.csv\" of run ` + run.ID + ` is damaged`; err != nil || !strings.Contains(string(last), want) {
		t.Errorf("the last message is %s, want %s", last, want)
	}
}
