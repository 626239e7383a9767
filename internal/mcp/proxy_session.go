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

// A proxySession is what a relay knows of its client's session: what is open on
// either side, and how the client introduced itself.
type proxySession struct {
	mu              sync.Mutex
	backend         Backend // nil if there is none
	clientLeft      bool
	clientRequests  map[string]string   // the client's requests by raw id, with the tool that is called
	backendRequests map[string]struct{} // the server's, by raw id

	// What a new server has to be told; as it came.
	initializeRequest, initializedNotification, setLevelRequest []byte
	initializeID                                                json.RawMessage   // of initialize
	pendingSetLevels                                            map[string][]byte // that were asked for, by raw id
	isInitialized                                               bool
}

func newProxySession() *proxySession {
	return &proxySession{clientRequests: map[string]string{}, backendRequests: map[string]struct{}{}, pendingSetLevels: map[string][]byte{}}
}

// A peekedMessage is what a relay sees of a message.
type peekedMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  json.RawMessage `json:"error"`

	raw []byte
}

func (m *peekedMessage) isRequest() bool { return m.Method != "" && m.ID != nil }

// cancelledID is the raw id of the request that a cancellation takes back.
func (m *peekedMessage) cancelledID() string {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &params) // then it takes nothing back
	return string(params.ID)
}

type peekedMessages []peekedMessage

// needBackend tells whether there is a request among them, or something that is no
// message, which a server answers, too.
func (g peekedMessages) needBackend() bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(m peekedMessage) bool { return m.isRequest() })
}

// peekMessages looks at a line: one message, or a batch of them. What is none is for
// the server to refuse.
func peekMessages(line []byte) peekedMessages {
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		parts = nil
		if json.Unmarshal(line, &parts) != nil {
			return nil
		}
	}
	all := make(peekedMessages, len(parts))
	for i, raw := range parts {
		if json.Unmarshal(raw, &all[i]) != nil {
			return nil
		}
		all[i].raw = raw
	}
	return all
}

func (s *proxySession) currentBackend() Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.backend
}

func (s *proxySession) attachBackend(b Backend) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.clientLeft {
		s.backend = b
	}
	return !s.clientLeft
}

// detachBackend forgets a server, and returns what was open with it unless that was
// done before, or the client wants to know no more.
func (s *proxySession) detachBackend(b Backend) (pending map[string]string, asked map[string]struct{}, was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backend != b || s.clientLeft {
		return nil, nil, false
	}
	pending, asked = s.clientRequests, s.backendRequests
	s.backend, s.clientRequests, s.backendRequests = nil, map[string]string{}, map[string]struct{}{}
	return pending, asked, true
}

func (s *proxySession) markClientLeft() Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clientLeft = true
	return s.backend
}

// trackClientMessages takes in what the client says to a server. There tells whether it is
// still the one; pass, whether the line is for it: the answer to a question that
// another server asked is not.
func (s *proxySession) trackClientMessages(b Backend, said peekedMessages) (pass, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backend != b {
		return false, false
	}
	for i := range said {
		m := &said[i]
		switch {
		case m.isRequest():
			s.clientRequests[string(m.ID)] = s.trackRequest(m)
		case m.Method == "notifications/initialized":
			s.initializedNotification = bytes.Clone(m.raw)
		case m.Method == string(mcp.MethodNotificationCancelled):
			delete(s.clientRequests, m.cancelledID()) // it gets no answer
		case m.Method == "" && len(said) == 1:
			_, open := s.backendRequests[string(m.ID)]
			delete(s.backendRequests, string(m.ID))
			return open || m.ID == nil, true
		}
	}
	return true, true
}

// trackRequest notes a request, and returns the tool that it calls, if it does.
func (s *proxySession) trackRequest(m *peekedMessage) (tool string) {
	switch m.Method {
	case string(mcp.MethodInitialize):
		s.initializeRequest, s.initializeID = bytes.Clone(m.raw), bytes.Clone(m.ID)
	case string(mcp.MethodSetLogLevel):
		s.pendingSetLevels[string(m.ID)] = bytes.Clone(m.raw)
	case string(mcp.MethodToolsCall):
		var params struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(m.Params, &params) // the server says what is wrong with it
		return params.Name
	}
	return ""
}

// trackBackendMessages takes in what the server says.
func (s *proxySession) trackBackendMessages(said peekedMessages) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range said {
		m := &said[i]
		switch {
		case m.isRequest():
			s.backendRequests[string(m.ID)] = struct{}{}
		case m.Method == string(mcp.MethodNotificationCancelled):
			delete(s.backendRequests, m.cancelledID())
		case m.Method == "":
			delete(s.clientRequests, string(m.ID))
			if bytes.Equal(m.ID, s.initializeID) && m.Error == nil {
				s.isInitialized = true
			}
			if level := s.pendingSetLevels[string(m.ID)]; level != nil && m.Error == nil { // one that was refused is none
				s.setLevelRequest = level
			}
			delete(s.pendingSetLevels, string(m.ID))
		}
	}
}

// initializeTimeout is how long a new server may take to know the client.
const initializeTimeout = 10 * time.Second

// initializeBackend tells a new server what the client told the one before. The client
// hears only that the tools may be others now.
func (p *runningProxy) initializeBackend(b Backend, in *bufio.Reader) error {
	s := p.session
	s.mu.Lock()
	introduced, say := s.isInitialized, [][]byte{s.initializeRequest, s.setLevelRequest}
	initialized := s.initializedNotification
	s.mu.Unlock()
	if !introduced {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), initializeTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { b.Close() })()
	for i, request := range say {
		if request == nil {
			continue
		}
		if err := p.replayRequest(b, in, request); err != nil {
			return fmt.Errorf("introducing the client to another Beam: %w", err)
		}
		if i == 0 && initialized != nil {
			if _, err := b.Write(append(initialized, '\n')); err != nil {
				return err
			}
		}
	}
	p.writer.sendReplyAsync(reply{message: encodeNotification(mcp.MethodNotificationToolsListChanged, nil)})
	return nil
}

// replayRequest repeats a request, and takes its answer.
func (p *runningProxy) replayRequest(b Backend, in *bufio.Reader, request []byte) error {
	want := peekMessages(request)
	if _, err := b.Write(append(request, '\n')); err != nil {
		return err
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		said := peekMessages(line)
		switch {
		case line[0] == NoticePrefix:
			p.HandleNotice(bytes.TrimSpace(line[1:]))
		case len(said) != 1 || said[0].Method != "" || !bytes.Equal(said[0].ID, want[0].ID):
			p.writer.sendReplyAsync(reply{message: bytes.TrimSpace(line)})
		case said[0].Error != nil:
			return fmt.Errorf("it says %s", said[0].Error)
		default:
			return nil
		}
	}
}
