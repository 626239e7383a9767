package docs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators/shipped"
)

// The documents' conversations with curl start a run, follow it and answer its question.
func TestCurl(t *testing.T) {
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " isn't installed")
		}
	}
	b, err := beam.New(beam.Config{Photons: shipped.Photons()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(b)
	t.Cleanup(func() { server.Close(); _ = b.Shutdown(context.Background()) })
	t.Chdir(t.TempDir()) // for the cookies
	n := 0
	for _, block := range blocks(t) {
		if strings.Contains(block.text, "/mcp/request") && block.language == "sh" {
			n++
			runConversation(t, strings.ReplaceAll(block.text, "http://127.0.0.1:3008", server.URL))
		}
	}
	if n < 2 {
		t.Errorf("the documents have %d conversations", n)
	}
}

var (
	runPlaceholder = regexp.MustCompile(`7f3c…|\bRUN\b`)
	askPlaceholder = regexp.MustCompile(`(7f3c…|\bRUN)\.\d+`)
)

// runConversation runs three commands: one that starts a run, one that follows it, and one
// that answers what the former says that the run asks.
func runConversation(t *testing.T, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, "\\\n", "")
	commands := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.HasPrefix(line, "curl ") })
	if len(commands) != 3 {
		t.Fatalf("%d commands in %s", len(commands), text)
	}
	var started struct{ ID string }
	out, err := exec.CommandContext(t.Context(), "bash", "-c", commands[0]).Output()
	if err != nil {
		t.Fatalf("%s: %v", commands[0], err)
	}
	if err := json.Unmarshal(out, &started); err != nil || started.ID == "" {
		t.Fatalf("%s: %v: %s", commands[0], err, out)
	}
	follow := exec.CommandContext(t.Context(), "bash", "-c", runPlaceholder.ReplaceAllLiteralString(commands[1], started.ID))
	events, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	var last message
	for lines := bufio.NewScanner(events); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		last = message{}
		if err := json.Unmarshal([]byte(data), &last); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if last.Method == "elicitation/create" && !last.isAbout(commands[2]) {
			break
		} else if last.Method == "elicitation/create" {
			answer := askPlaceholder.ReplaceAllLiteralString(commands[2], last.ID)
			if out, err := exec.CommandContext(t.Context(), "bash", "-c", strings.Replace(answer, "curl ", "curl -f ", 1)).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", answer, err, out)
			}
			commands[2] = ""
		}
	}
	if commands[2] != "" {
		t.Errorf("nothing was answered with %s", commands[2])
	}
	_ = follow.Process.Kill() // if the run asks further questions
	_ = follow.Wait()
}

// A message is what the stream of a run sends.
type message struct {
	ID, Method string
	Params     struct {
		RequestedSchema struct{ Properties map[string]any }
	}
}

// isAbout reports whether a command answers the question.
func (m *message) isAbout(command string) bool {
	for name := range m.Params.RequestedSchema.Properties {
		if strings.Contains(command, `"`+name+`"`) {
			return true
		}
	}
	return false
}
