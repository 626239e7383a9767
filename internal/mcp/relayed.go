package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A relayed is what a relay knows of its client's session: what is open on
// either side, and how the client introduced itself.
type relayed struct {
	mu      sync.Mutex
	current Backend // nil if there is none
	leaving bool
	pending map[string]string   // the client's requests by raw id, with the tool that is called
	asked   map[string]struct{} // the server's, by raw id

	// What a new server has to be told; as it came.
	initialize, initialized, level []byte
	id                             json.RawMessage   // of initialize
	levels                         map[string][]byte // that were asked for, by raw id
	introduced                     bool
}

func newRelayed() *relayed {
	return &relayed{pending: map[string]string{}, asked: map[string]struct{}{}, levels: map[string][]byte{}}
}

// A glanced is what a relay sees of a message.
type glanced struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  json.RawMessage `json:"error"`

	raw []byte
}

func (m *glanced) isRequest() bool { return m.Method != "" && m.ID != nil }

// cancels is the raw id of the request that a cancellation takes back.
func (m *glanced) cancels() string {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &params) // then it takes nothing back
	return string(params.ID)
}

type glances []glanced

// wanting tells whether there is a request among them, or something that is no
// message, which a server answers, too.
func (g glances) wanting() bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(m glanced) bool { return m.isRequest() })
}

// glance looks at a line: one message, or a batch of them. What is none is for
// the server to refuse.
func glance(line []byte) glances {
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		parts = nil
		if json.Unmarshal(line, &parts) != nil {
			return nil
		}
	}
	all := make(glances, len(parts))
	for i, raw := range parts {
		if json.Unmarshal(raw, &all[i]) != nil {
			return nil
		}
		all[i].raw = raw
	}
	return all
}

func (s *relayed) server() Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *relayed) attach(b Backend) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leaving {
		s.current = b
	}
	return !s.leaving
}

// detach forgets a server, and returns what was open with it unless that was
// done before, or the client wants to know no more.
func (s *relayed) detach(b Backend) (pending map[string]string, asked map[string]struct{}, was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != b || s.leaving {
		return nil, nil, false
	}
	pending, asked = s.pending, s.asked
	s.current, s.pending, s.asked = nil, map[string]string{}, map[string]struct{}{}
	return pending, asked, true
}

func (s *relayed) leave() Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	return s.current
}

// heard takes in what the client says to a server. There tells whether it is
// still the one; pass, whether the line is for it: the answer to a question that
// another server asked is not.
func (s *relayed) heard(b Backend, said glances) (pass, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != b {
		return false, false
	}
	for i := range said {
		m := &said[i]
		switch {
		case m.isRequest():
			s.pending[string(m.ID)] = s.requested(m)
		case m.Method == "notifications/initialized":
			s.initialized = bytes.Clone(m.raw)
		case m.Method == string(mcp.MethodNotificationCancelled):
			delete(s.pending, m.cancels()) // it gets no answer
		case m.Method == "" && len(said) == 1:
			_, open := s.asked[string(m.ID)]
			delete(s.asked, string(m.ID))
			return open || m.ID == nil, true
		}
	}
	return true, true
}

// requested notes a request, and returns the tool that it calls, if it does.
func (s *relayed) requested(m *glanced) (tool string) {
	switch m.Method {
	case string(mcp.MethodInitialize):
		s.initialize, s.id = bytes.Clone(m.raw), bytes.Clone(m.ID)
	case string(mcp.MethodSetLogLevel):
		s.levels[string(m.ID)] = bytes.Clone(m.raw)
	case string(mcp.MethodToolsCall):
		var params struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(m.Params, &params) // the server says what is wrong with it
		return params.Name
	}
	return ""
}

// told takes in what the server says.
func (s *relayed) told(said glances) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range said {
		m := &said[i]
		switch {
		case m.isRequest():
			s.asked[string(m.ID)] = struct{}{}
		case m.Method == string(mcp.MethodNotificationCancelled):
			delete(s.asked, m.cancels())
		case m.Method == "":
			delete(s.pending, string(m.ID))
			if bytes.Equal(m.ID, s.id) && m.Error == nil {
				s.introduced = true
			}
			if level := s.levels[string(m.ID)]; level != nil && m.Error == nil { // one that was refused is none
				s.level = level
			}
			delete(s.levels, string(m.ID))
		}
	}
}

// introductions is how long a new server may take to know the client.
const introductions = 10 * time.Second

// introduce tells a new server what the client told the one before. The client
// hears only that the tools may be others now.
func (x *relay) introduce(b Backend, in *bufio.Reader) error {
	s := x.session
	s.mu.Lock()
	introduced, say := s.introduced, [][]byte{s.initialize, s.level}
	initialized := s.initialized
	s.mu.Unlock()
	if !introduced {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), introductions)
	defer cancel()
	defer context.AfterFunc(ctx, func() { b.Close() })()
	for i, request := range say {
		if request == nil {
			continue
		}
		if err := x.replay(b, in, request); err != nil {
			return fmt.Errorf("introducing the client to another Beam: %w", err)
		}
		if i == 0 && initialized != nil {
			if _, err := b.Write(append(initialized, '\n')); err != nil {
				return err
			}
		}
	}
	x.pipe.post(reply{message: notification(mcp.MethodNotificationToolsListChanged, nil)})
	return nil
}

// replay repeats a request, and takes its answer.
func (x *relay) replay(b Backend, in *bufio.Reader, request []byte) error {
	want := glance(request)
	if _, err := b.Write(append(request, '\n')); err != nil {
		return err
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		said := glance(line)
		switch {
		case line[0] == AsideMark:
			x.Aside(bytes.TrimSpace(line[1:]))
		case len(said) != 1 || said[0].Method != "" || !bytes.Equal(said[0].ID, want[0].ID):
			x.pipe.post(reply{message: bytes.TrimSpace(line)})
		case said[0].Error != nil:
			return fmt.Errorf("it says %s", said[0].Error)
		default:
			return nil
		}
	}
}
