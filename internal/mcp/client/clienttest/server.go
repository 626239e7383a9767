// Package clienttest is a server for tests of MCP clients. It speaks 2025-11-25 and
// earlier versions over stdio, and does as its tools are told, also what no server should.
package clienttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// Variable makes a test program a server: its TestMain calls [ServeChild] if it is set.
// The value has the server's options, separated by commas.
const Variable = "CLIENTTEST_SERVER"

// ServeChild serves over stdin and stdout until stdin ends, and exits.
func ServeChild() {
	s := &Server{Out: os.Stdout, Options: strings.Split(os.Getenv(Variable), ",")}
	if s.Has("tell pid") {
		fmt.Fprintf(os.Stderr, "pid %d\n", os.Getpid())
	}
	for _, endless := range []string{"x", "\n"} {
		for s.Has("endless " + strings.ReplaceAll(endless, "\n", "newlines")) {
			os.Stdout.WriteString(strings.Repeat(endless, 64<<10))
		}
	}
	if s.Has("stubborn") {
		signal.Ignore(syscall.SIGTERM)
	}
	s.Serve(os.Stdin)
	if s.Has("stubborn") {
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

// A Server is the server of one client.
type Server struct {
	Out io.Writer
	// Options are what the server does otherwise than others; see the code that looks
	// them up.
	Options []string

	mu      sync.Mutex // held while writing
	lastID  int
	arrived int                             // calls of ask_anything
	asked   int                             // of those, how many have asked
	replies int                             // to requests, also those that have had one
	waiting map[string]chan json.RawMessage // responses, by the id of their request
	calls   map[string]chan struct{}        // closed when a call is cancelled, by its id
}

type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Has reports whether the server has an option.
func (s *Server) Has(option string) bool {
	for _, o := range s.Options {
		if o == option {
			return true
		}
	}
	return false
}

// Serve serves until in ends.
func (s *Server) Serve(in io.Reader) {
	s.waiting, s.calls = map[string]chan json.RawMessage{}, map[string]chan struct{}{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var m envelope
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		s.handle(m)
	}
}

func (s *Server) handle(m envelope) {
	switch m.Method {
	case "":
		s.mu.Lock()
		waiting := s.waiting[string(m.ID)]
		delete(s.waiting, string(m.ID))
		s.replies++
		s.mu.Unlock()
		if waiting != nil {
			if m.Error != nil {
				waiting <- json.RawMessage(`{"error":` + string(m.Error) + `}`)
			} else {
				waiting <- m.Result
			}
		}
	case "ping":
		s.Reply(m.ID, "{}")
	case "server/discover":
		if !s.Has("ignore discover") {
			s.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		}
	case "initialize":
		if s.Has("ignore initialize") {
			return
		}
		version := "2025-11-25"
		for _, o := range s.Options {
			if v, ok := strings.CutPrefix(o, "version="); ok {
				version = v
			}
		}
		s.Reply(m.ID, `{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"clienttest","version":"1"}}`, version)
	case "tools/list":
		s.handleList(m)
	case "tools/call":
		s.handleCall(m)
	case "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
			Reason    string
		}
		_ = json.Unmarshal(m.Params, &p)
		s.mu.Lock()
		cancelled := s.calls[string(p.RequestID)]
		delete(s.calls, string(p.RequestID))
		s.mu.Unlock()
		if cancelled != nil {
			fmt.Fprintln(os.Stderr, "cancelled:", p.Reason)
			close(cancelled)
		}
	}
}

func (s *Server) handleList(m envelope) {
	switch {
	case s.Has("cyclic cursors"):
		s.Reply(m.ID, `{"tools":[],"nextCursor":"again"}`)
	case s.Has("endless list"):
		s.mu.Lock()
		s.lastID++
		n := s.lastID
		s.mu.Unlock()
		s.Reply(m.ID, `{"tools":[],"nextCursor":"%d"}`, n)
	case s.Has("million tools"):
		tool := `{"name":"t","inputSchema":{"type":"object"}}`
		s.Reply(m.ID, `{"tools":[%s]}`, strings.Repeat(tool+",", 50_000)+tool)
	case s.Has("die in list"):
		os.Exit(7)
	case s.Has("hang in list"):
	default:
		var tools []string
		for name := range allTools {
			tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		s.Reply(m.ID, `{"tools":[%s]}`, strings.Join(tools, ","))
	}
}

func (s *Server) handleCall(m envelope) {
	var p struct {
		Name      string
		Arguments map[string]any
	}
	_ = json.Unmarshal(m.Params, &p)
	tool := allTools[p.Name]
	if tool == nil {
		s.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
		return
	}
	cancelled := make(chan struct{})
	s.mu.Lock()
	s.calls[string(m.ID)] = cancelled
	s.mu.Unlock()
	go func() {
		text := tool(&Call{Server: s, ID: m.ID, Arguments: p.Arguments, Cancelled: cancelled})
		s.mu.Lock()
		delete(s.calls, string(m.ID))
		s.mu.Unlock()
		if text != "" {
			s.Reply(m.ID, `{"content":[{"type":"text","text":%q}]}`, text)
		}
	}()
}

// A Call is a call of a tool.
type Call struct {
	*Server
	ID        json.RawMessage
	Arguments map[string]any
	Cancelled chan struct{} // closed when the client cancels the call
}

// allTools are the tools; an empty result is none.
var allTools = map[string]func(*Call) string{
	"echo":  func(c *Call) string { return fmt.Sprint(c.Arguments["text"]) },
	"count": count,
	"ask":   func(c *Call) string { return string(<-c.Ask("elicitation/create", form, "")) },
	"ask_as": func(c *Call) string {
		return string(<-c.Ask("elicitation/create", form, fmt.Sprint(c.Arguments["id"])))
	},
	"ask_anything": askAnything,
	"replies": func(c *Call) string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return fmt.Sprintf("%d requests, %d replies", c.lastID, c.replies)
	},
	"sample":    func(c *Call) string { return string(<-c.Ask("sampling/createMessage", sampling, "")) },
	"roots":     func(c *Call) string { return string(<-c.Ask("roots/list", "{}", "")) },
	"open_url":  func(c *Call) string { return string(<-c.Ask("elicitation/create", address, "")) },
	"take_back": takeBack,
	"die": func(c *Call) string {
		c.Ask("elicitation/create", form, "")
		c.waitUntilTold()
		os.Exit(3)
		return ""
	},
	"exit": func(*Call) string { os.Exit(4); return "" },
	"hang": func(c *Call) string { <-c.Cancelled; return "" },
	"log": func(c *Call) string {
		c.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"l","data":{"n":1}}}`)
		return "logged"
	},
	"raw": func(c *Call) string { c.Send("%s", c.Arguments["line"]); return "sent" },
	"change": func(c *Call) string {
		c.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		return "changed"
	},
	"wait":  wait,
	"spawn": spawn,
	"pid":   func(*Call) string { return fmt.Sprint(os.Getpid()) },
}

const (
	form     = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`
	sampling = `{"messages":[{"role":"user","content":{"type":"text","text":"Why?"}}],"maxTokens":500}`
	address  = `{"mode":"url","elicitationId":"e1","message":"Sign in","url":"https://example.com/sign-in"}`
)

func count(c *Call) string {
	n, _ := c.Arguments["n"].(float64)
	for i := range int(n) {
		c.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d}}`, c.ID, i+1, int(n))
	}
	return "counted"
}

// waitUntilTold waits until the file exists that the argument after names: the test
// creates it once it has the question.
func (c *Call) waitUntilTold() {
	programtest.Poll(func() bool {
		_, err := os.Stat(fmt.Sprint(c.Arguments["after"]))
		return err == nil
	})
}

// askAnything asks with the params and the method that it is given, once there have been so
// many calls of it, and so many of them have asked. It ignores that it is cancelled.
func askAnything(c *Call) string {
	number := func(name string) int {
		n, _ := c.Arguments[name].(float64)
		return int(n)
	}
	params, _ := json.Marshal(c.Arguments["params"])
	method, ok := c.Arguments["method"].(string)
	if !ok {
		method = "elicitation/create"
	}
	c.arrive()
	programtest.Poll(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.arrived >= number("calls") && c.asked >= number("asked")
	})
	answer := c.Ask(method, string(params), "")
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	return string(<-answer)
}

func (c *Call) arrive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arrived++
}

// wait asks nothing and ends once it is told to.
func wait(c *Call) string {
	c.arrive()
	c.waitUntilTold()
	fmt.Fprintln(os.Stderr, "waited")
	return "waited"
}

// takeBack asks, and withdraws the question once it is told to.
func takeBack(c *Call) string {
	c.Ask("elicitation/create", form, `"withdrawn"`)
	c.waitUntilTold()
	c.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"withdrawn","reason":"somebody else answered"}}`)
	return "went on"
}

// spawn starts a process that would outlive the server, and returns its id.
func spawn(*Call) string {
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(p.Pid)
}

// Ask sends a request and returns a channel with its result, or an object with the error.
// An empty id is a new one.
func (s *Server) Ask(method, params, id string) <-chan json.RawMessage {
	s.mu.Lock()
	if id == "" {
		s.lastID++
		id = fmt.Sprintf(`"ask-%d"`, s.lastID)
	}
	waiting := make(chan json.RawMessage, 1)
	s.waiting[id] = waiting
	s.mu.Unlock()
	s.Send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	return waiting
}

// Reply sends the result of a request.
func (s *Server) Reply(id json.RawMessage, format string, args ...any) {
	s.Send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, fmt.Sprintf(format, args...))
}

// Send sends a line.
func (s *Server) Send(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.Out, format+"\n", args...)
}
