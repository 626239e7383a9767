// Package peers measures Beam's stdio server beside others, in one run: a bare
// pipe that only scans lines, which is the floor, and the stdio servers of
// mcp-go and of the official Go SDK. Each is a process of its own. Beam's is
// there twice: with all in memory, and with a durable tool and a data folder.
package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	lib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Each server has one tool, ask, that asks for a word and returns it.
var servers = map[string]func(){"pipe": pipe, "beam": serveBeam, "durable": serveDurable, "mcp-go": serveMCPGo, "go-sdk": serveSDK}

const schema = `{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`

func TestMain(m *testing.M) {
	if serve := servers[os.Getenv("BEAM_PEER")]; serve != nil {
		serve()
		return
	}
	os.Exit(m.Run())
}

type none struct{}

func serveBeam() { serveAs(nil, "--memory") }

func serveDurable() {
	serveAs(&generators.Options{Durable: true}, "--data", os.Getenv("BEAM_PEER_DATA"))
}

func serveAs(o *generators.Options, args ...string) {
	photon := generators.New("ask", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		return ask.Text(yield, "word", "Which word?")
	}, o)
	quick := generators.New("quick", func(context.Context, none, generators.Yield) (string, error) { return "quick", nil }, nil)
	os.Exit(beam.Run(context.Background(), append([]string{"stdio"}, args...), os.Stdin, os.Stdout, os.Stderr, photon, quick))
}

func serveMCPGo() {
	s := server.NewMCPServer("peer", "1", server.WithElicitation(), server.WithToolCapabilities(true))
	s.AddTool(lib.NewToolWithRawSchema("ask", "asks", json.RawMessage(`{"type":"object"}`)), func(ctx context.Context, _ lib.CallToolRequest) (*lib.CallToolResult, error) {
		r, err := s.RequestElicitation(ctx, lib.ElicitationRequest{Params: lib.ElicitationParams{Message: "Which word?", RequestedSchema: json.RawMessage(schema)}})
		if err != nil {
			return nil, err
		}
		return lib.NewToolResultText(fmt.Sprint(r.Content)), nil
	})
	s.AddTool(lib.NewToolWithRawSchema("quick", "quick", json.RawMessage(`{"type":"object"}`)), func(context.Context, lib.CallToolRequest) (*lib.CallToolResult, error) {
		return lib.NewToolResultText("quick"), nil
	})
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func serveSDK() {
	s := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		e, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Which word?", RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(e.Content)}}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "quick", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "quick"}}}, nil
	})
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// pipe answers as a server would, without looking at what it reads beyond the
// id: what two processes and a line each way cost at least.
func pipe() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		id := idOf(line)
		switch {
		case strings.Contains(line, `"initialize"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"pipe","version":"1"}}}`+"\n", id)
		case strings.Contains(line, `"tools/call"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":"a%s","method":"elicitation/create","params":{"message":"Which word?","requestedSchema":%s}}`+"\n", id, schema)
		case strings.Contains(line, `"action"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"word"}]}}`+"\n", strings.Trim(id, `"a`))
		}
	}
}

func idOf(line string) string {
	_, rest, _ := strings.Cut(line, `"id":`)
	end := strings.IndexAny(rest, ",}")
	if end < 0 {
		return "0"
	}
	return rest[:end]
}

// A peer is a server's process and the client's end of its pipes.
type peer struct {
	tb  testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	end func() // once
}

func start(tb testing.TB, name string) *peer {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BEAM_PEER="+name, "BEAM_PEER_DATA="+tb.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &peer{tb: tb, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	p.end = sync.OnceFunc(func() {
		in.Close()
		done := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		done.Stop()
	})
	tb.Cleanup(p.end)
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"peers","version":"1"}}}`)
	p.read()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// renew ends a process, if there is one, and starts another, which has made its
// first rounds.
func renew(tb testing.TB, old *peer, name string) *peer {
	tb.Helper()
	if old != nil {
		old.end()
	}
	p := start(tb, name)
	for i := range 200 {
		p.round(1_000_000 + i)
	}
	return p
}

func (p *peer) send(line string) {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.tb.Fatal(err)
	}
}

// read is the next request or response. A client that lets questions wait for
// long is told so in between.
func (p *peer) read() string {
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.tb.Fatal(err)
		}
		if !strings.Contains(line, `"method":"notifications/`) {
			return line
		}
	}
}

func call(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

func answer(question string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`, idOf(question))
}

// round makes one call, from the request to the result.
func (p *peer) round(id int) {
	p.send(call(id, "ask"))
	p.send(answer(p.read()))
	if result := p.read(); !strings.Contains(result, `"result"`) {
		p.tb.Fatal(result)
	}
}

// rss is the process's resident memory, in bytes.
func (p *peer) rss() float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.tb.Skip(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		p.tb.Fatal(err)
	}
	return float64(kb) * 1024
}

var order = []string{"pipe", "beam", "mcp-go", "go-sdk"}

// lifetime is how many rounds a process makes before another takes its place:
// where the system happens to lay one out makes it some percent faster or slower
// as long as it lives.
const lifetime = 500

// BenchmarkAsk takes turns, so that a machine that slows down slows all of
// them: tools/call, elicitation, answer, result over stdio.
func BenchmarkAsk(b *testing.B) {
	peers := map[string]*peer{}
	times := map[string][]time.Duration{}
	id := 0
	for b.Loop() {
		for _, name := range order {
			if id%lifetime == 0 {
				peers[name] = renew(b, peers[name], name)
			}
			begun := time.Now()
			peers[name].round(id)
			times[name] = append(times[name], time.Since(begun))
		}
		id++
	}
	at := func(name string, q float64) float64 {
		t := times[name]
		slices.Sort(t)
		return float64(t[int(q*float64(len(t)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(0, "ns/op") // of all four together, which says nothing
	for _, name := range order {
		b.ReportMetric(at(name, .5), name+"-p50-µs")
		b.ReportMetric(at(name, .99), name+"-p99-µs")
	}
	b.ReportMetric(at("beam", .5)/at("mcp-go", .5), "beam/mcp-go")
	b.ReportMetric(at("beam", .5)/at("go-sdk", .5), "beam/go-sdk")
	b.ReportMetric(at("beam", .5)/at("pipe", .5), "beam/pipe")
}

// BenchmarkWaiting has 10,000 calls wait for an answer on one session, makes a
// quick call among them, and answers all. mcp-go stops at a hundred, so it is
// left out.
func BenchmarkWaiting(b *testing.B) {
	for _, name := range []string{"beam", "durable", "go-sdk"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				waiting(b, start(b, name), 10_000)
			}
		})
	}
}

// quick is how long a call takes that asks nothing, in the median.
func (p *peer) quick() time.Duration {
	var took []time.Duration
	for range 500 {
		begun := time.Now()
		p.send(call(1_000_000, "quick"))
		p.read()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

func waiting(b *testing.B, p *peer, n int) {
	idle := p.rss()
	alone := p.quick()
	var sent sync.WaitGroup
	sent.Go(func() {
		for i := range n {
			p.send(call(i+1, "ask"))
		}
	})
	questions := make([]string, n)
	begun := time.Now()
	for i := range n {
		questions[i] = p.read()
	}
	asked := time.Since(begun)
	sent.Wait()
	peak := p.rss()
	settled := peak
	for range 60 { // memory is given back when nothing goes on
		time.Sleep(250 * time.Millisecond)
		settled = min(settled, p.rss())
	}
	among := p.quick()
	begun = time.Now()
	sent.Go(func() {
		for _, q := range questions {
			p.send(answer(q))
		}
	})
	for range n {
		if r := p.read(); !strings.Contains(r, "fish") {
			b.Fatal(r)
		}
	}
	answered := time.Since(begun)
	sent.Wait()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(idle/1e6, "idle-MB")
	b.ReportMetric(peak/1e6, "peak-MB")
	b.ReportMetric(settled/1e6, "waiting-MB")
	b.ReportMetric(asked.Seconds(), "asked-s")
	b.ReportMetric(answered.Seconds(), "answered-s")
	b.ReportMetric(float64(among.Nanoseconds())/1e3, "quick-p50-µs")
	b.ReportMetric(float64(among)/float64(alone), "quick/alone")
}
