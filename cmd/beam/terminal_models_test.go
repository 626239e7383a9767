package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/llm/llmtest"
)

// A request to a model is sent once it is approved; the reply is the answer.
func TestModelInATerminal(t *testing.T) {
	dir := t.TempDir()
	model := llmtest.New(t, func(x *llmtest.Call) { x.Reply("It is short.") })
	config := fmt.Sprintf(`{"models":[{"name":"tiny","endpoint":%q}]}`, model.URL+"/v1")
	if err := os.WriteFile(filepath.Join(dir, "models.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, 80, 40, dir)
	s.enter("beam run --memory --models models.json summarize --text 'A long text.'; echo status $?")
	s.waitFor(`Request to a model`)
	s.waitFor(`Send this request to`)
	s.waitFor(`> .nothing chosen.`)
	s.waitFor(`Answer it myself`)
	s.waitFor(`esc: `)
	s.press("Enter")
	s.waitFor(`choose with the arrow keys`)
	if len(model.Requests()) > 0 {
		t.Error("the request was sent before it was approved")
	}
	s.press("Down", "Enter")
	s.waitFor(`→ Sent to the model tiny`)
	s.waitFor(`It is short`)
	s.waitFor(`status 0`)
	s.enter("clear; beam run --memory --models models.json summarize --text 'A long text.' --quiet; echo status $?")
	s.waitFor(`esc: `)
	s.press("Down", "Down", "Enter")
	s.waitFor(`Answer in the model's place`)
	s.typeText("By hand.")
	s.press("Enter")
	s.waitFor(`By hand`)
	s.waitFor(`status 0`)

	// It is changed first, and a later one approved, too.
	before := len(model.Requests())
	s.enter("clear; beam run --memory --models models.json summarize --text 'A long text.' --quiet; echo status $?")
	s.waitFor(`esc: `)
	s.press("Down", "Down", "Down", "Enter")
	s.waitFor(`┃ System prompt`)
	s.press("Tab")
	s.waitFor(`┃ Last message`)
	s.press("C-e")
	s.typeText(" Please.")
	s.press("Enter")
	s.waitFor(`At most this many tokens`)
	s.press("Enter")
	s.waitFor(`┃ At most this many tokens`)
	s.press("C-u")
	s.typeText("77")
	s.waitFor(`> 77\s*$`)
	s.press("Enter")
	s.waitFor(`┃ Approve`)
	s.press("Enter")
	s.waitFor(`It is short`)
	s.waitFor(`status 0`)
	if sent := model.Requests(); len(sent) != before+1 || !strings.Contains(string(sent[before]), `A long text.`) || !strings.Contains(string(sent[before]), ` Please."`) || !strings.Contains(string(sent[before]), `"max_tokens":77`) {
		t.Errorf("%q were sent", sent[before:])
	}
}

// Scripts approve a request by its key. A request without an approval names the models; one
// that a Beam keeps is approved from another terminal, also with changes.
func TestModelInScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	model := llmtest.New(t, func(x *llmtest.Call) { x.Reply("It is short.") })
	dir := t.TempDir()
	config := filepath.Join(dir, "models.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"models":[{"name":"tiny","endpoint":%q}]}`, model.URL+"/v1"), 0o600); err != nil {
		t.Fatal(err)
	}
	beam := serveInState(t, dir, "--models", config)
	run := func(status int, args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(beam.program, args...)
		cmd.Env, cmd.Dir = beam.env, beam.dir
		var errs strings.Builder
		cmd.Stderr = &errs
		out, _ := cmd.Output()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("beam %s: status %d\n%s%s", args, got, out, errs.String())
		}
		return string(out), errs.String()
	}
	local := []string{"run", "--memory", "--quiet", "--models", config, "summarize", "--text", "A long text."}
	if out, _ := run(0, append(local, "--approve", "summary")...); !strings.Contains(out, "It is short.") {
		t.Errorf("approved, it printed %s", out)
	}
	if _, errs := run(4, local...); !strings.Contains(errs, "--approve summary[=MODEL], which sends the request to tiny; or --answer summary=TEXT, in the model's place") {
		t.Errorf("unanswered, it said %s", errs)
	}
	if _, errs := run(2, append(local, "--approve", "summary=huge")...); !strings.Contains(errs, `must be one of the configured models; there is no "huge"`) {
		t.Errorf("with another model, it said %s", errs)
	}
	if _, errs := run(2, "run", "--memory", "--models", "none.json", "summarize"); !strings.Contains(errs, "the file of models "+filepath.Join(dir, "none.json")+": it can't be read") {
		t.Errorf("without the file, it said %s", errs)
	}

	_, errs := run(4, "run", "--quiet", "--no-input", "summarize", "--text", "A long text.")
	id := regexp.MustCompile(`beam answer (\w+\.\d+)`).FindStringSubmatch(errs)
	if id == nil {
		t.Fatalf("it said %s", errs)
	}
	if out, _ := run(0, "answer", id[1], "--help"); !strings.Contains(out, "or send the request with --approve MODEL:\n  tiny") {
		t.Errorf("the help is %s", out)
	}
	if _, errs := run(4, "answer", id[1]); !strings.Contains(errs, "--approve tiny, which sends the request; or --text TEXT") {
		t.Errorf("without an answer, it said %s", errs)
	}
	if _, errs := run(2, "answer", id[1], "--approve", "best", "--json", `{"maxtoken": 3}`); !strings.Contains(errs, "--json must be an object of the members systemPrompt, maxTokens") {
		t.Errorf("with a wrong change, it said %s", errs)
	}
	before := len(model.Requests())
	run(0, "answer", id[1], "--approve", "best", "--json", `{"maxTokens": 33, "standing": {"scope": "tool", "requests": 1}}`)
	if out, _ := run(0, "follow", "--quiet", strings.SplitN(id[1], ".", 2)[0]); !strings.Contains(out, "It is short.") {
		t.Errorf("approved, it printed %s", out)
	}
	if out, _ := run(0, "run", "--quiet", "summarize", "--text", "Another text.", "--output", "jsonl"); !strings.Contains(out, "a standing approval for the tool summarize; 0 requests left") {
		t.Errorf("by the standing approval, it printed %s", out)
	}
	if sent := model.Requests(); len(sent) != before+2 || !strings.Contains(string(sent[before]), `"max_tokens":33`) {
		t.Errorf("%q were sent", sent[before:])
	}
}
