package mcp_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/runlog"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// TestTranscripts compares what travels over stdio with testdata/transcripts. A transcript
// has the lines of the client and what else happens, and between them, indented, the
// lines that the server sends, after the time since the beginning:
//
//	client 2025-11-25 {…} the client initializes with capabilities; from 2026-07-28 on, META stands for the members of
//	                      _meta that declare them
//	{"jsonrpc":…}         the client sends a message; RUN is the last run, STATE the last requestState
//	sleep 45s             time passes
//	answer accept {…}     somebody answers the only open question in the browser; or decline, cancel
//	stop                  somebody stops the last run in the browser
//
// Notifications of tasks' states are left out: how many there are depends on how fast the
// client reads. With -update, the server's lines are replaced by those that it sends.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range archive.Files {
				got := replayTranscript(t, string(f.Data))
				if got != string(f.Data) && !*update {
					t.Errorf("%s: the transcript is\n%s\nwant\n%s", f.Name, got, f.Data)
				}
				archive.Files[i].Data = []byte(got)
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// transcriptPhotons are the tools that transcripts call.
func transcriptPhotons() []*generators.Photon {
	book := func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		number, err := ask.Integer(yield, "guests", "How many people will be dining?", ask.Range(1, 20))
		return fmt.Sprintf("A table for %d is booked.", number), err
	}
	work := func(ctx context.Context, in struct {
		For string `json:"for"`
	}, yield generators.Yield) (string, error) {
		d, err := time.ParseDuration(in.For)
		if err != nil {
			return "", err
		}
		yield(generators.Status("working"))
		select {
		case <-time.After(d):
			return "The work is done.", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	account := func(yield generators.Yield) (string, error) {
		return ask.Select(yield, "account", "Which account should Ada get?", ask.Choices("reader", "editor"), ask.Timeout(time.Hour))
	}
	create := func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		kind, err := account(yield)
		if err != nil {
			return "", err
		}
		return "Ada is " + kind + ".", nil
	}
	createOrNot := func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		if _, err := account(yield); err != nil {
			return "Ada has no account yet.", nil
		}
		return "Ada has an account.", nil
	}
	createForTeam := func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		_, err := account(yield)
		return "", fmt.Errorf("creating 1 of 3 accounts: %w", err)
	}
	return []*generators.Photon{
		generators.New("create", create, nil),
		generators.New("create_or_not", createOrNot, nil),
		generators.New("create_for_team", createForTeam, nil),
		generators.New("book", book, &generators.Options{Title: "Book dinner"}),
		generators.New("book_no_task", book, &generators.Options{Title: "Book dinner", Task: generators.TaskForbidden}),
		generators.New("work", work, nil),
		generators.New("work_no_task", work, &generators.Options{Task: generators.TaskForbidden}),
		askingPhoton("login", ask.ForSecret("password", "What is the password?")),
	}
}

// replayTranscript does what the client does in a transcript, and returns the transcript
// with what the server sends.
func replayTranscript(t *testing.T, transcript string) (got string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newTranscriptServer(t)
		p := &transcriptPlayer{testServer: r, client: r.connectStdio(t), begun: time.Now()}
		for line := range strings.Lines(transcript) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "\t") {
				continue
			}
			p.text.WriteString(line + "\n")
			p.play(t, line)
		}
		p.client.closeAndWait()
		r.close()
		got = p.text.String()
	})
	return got
}

func newTranscriptServer(t *testing.T) *testServer {
	t.Helper()
	return newTestServerWith(t, mcp.Config{
		AskPolicy: linkPolicy, SignInHint: "If the page asks the user to sign in, they run `beam open` in a terminal.",
	}, runlog.NewMemory(), transcriptPhotons()...)
}

// A transcriptPlayer plays the client of a transcript, and writes down what the server
// sends.
type transcriptPlayer struct {
	*testServer
	client           *stdioClient
	begun            time.Time
	text             strings.Builder
	run, state, meta string // see [TestTranscripts]
}

func (p *transcriptPlayer) play(t *testing.T, line string) {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "", "#":
		return
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			t.Fatal(err)
		}
		p.sleep(d)
		return
	case "client":
		version, caps, _ := strings.Cut(rest, " ")
		if p.meta = strings.TrimSuffix(strings.TrimPrefix(modernMeta(caps, ""), `"_meta":{`), "}"); version < "2026-07-28" {
			p.client.initialize(version, caps)
			p.client.sendLine(`{"jsonrpc":"2.0","id":"quiet","method":"logging/setLevel","params":{"level":"emergency"}}`)
			p.client.nextLine()
		}
	case "answer":
		action, content, _ := strings.Cut(rest, " ")
		p.answerInBrowser(t, askdata.Action(action), content)
	case "stop":
		if err := p.engine.Cancel(t.Context(), operator, p.run, "browser"); err != nil {
			t.Fatal(err)
		}
	default:
		p.client.sendLine("%s", strings.NewReplacer("RUN", p.run, "STATE", p.state, "META", p.meta).Replace(line))
	}
	p.sleep(0)
}

// sleep writes down what the server sends within d, with the time when it does.
func (p *transcriptPlayer) sleep(d time.Duration) {
	end := time.After(d)
	for {
		synctest.Wait()
		select {
		case line := <-p.client.lines:
			p.record(line)
			continue
		default:
		}
		select {
		case line := <-p.client.lines:
			p.record(line)
		case <-end:
			synctest.Wait()
			for len(p.client.lines) > 0 {
				p.record(<-p.client.lines)
			}
			return
		}
	}
}

var (
	anyState   = regexp.MustCompile(`"requestState":"([^"]*)"`)
	timeOrTTL  = regexp.MustCompile(`"(createdAt|lastUpdatedAt)":"[^"]*"|"ttl(Ms)?":\d+`)
	serverInfo = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"beam","version":"test"}},`
)

// record writes down a line of the server, without what differs between tests or has no
// meaning for them.
func (p *transcriptPlayer) record(line string) {
	if strings.Contains(line, `"method":"notifications/tasks/status"`) {
		return
	}
	if id := runIDPattern.FindString(line); id != "" {
		p.run = id
	}
	if m := anyState.FindStringSubmatch(line); m != nil {
		p.state = m[1]
	}
	line = strings.Replace(timeOrTTL.ReplaceAllStringFunc(maskIDs(line), maskMember), serverInfo, "", 1)
	fmt.Fprintf(&p.text, "\t%s %s\n", time.Since(p.begun).Round(10*time.Millisecond), line)
}

// maskMember replaces the value of a member by its name.
func maskMember(member string) string {
	name, _, _ := strings.Cut(member, ":")
	raw, _ := json.Marshal(strings.ToUpper(strings.Trim(name, `"`)))
	return name + ":" + string(raw)
}
