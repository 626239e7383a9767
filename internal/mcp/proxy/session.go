package proxy

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// A session is what the proxy knows of the client's session: the open requests of both
// sides, and the messages that initialized it.
type session struct {
	mu              sync.Mutex
	backend         Backend // nil if there is none
	clientLeft      bool
	clientRequests  map[string]string   // tool names of the client's open requests, by raw id; "" for other requests
	backendRequests map[string]struct{} // raw ids of the backend's open requests

	// What a new backend must receive, as the client sent it.
	initializeRequest, initializedNotification, setLevelRequest []byte
	initializeID                                                json.RawMessage
	pendingSetLevels                                            map[string][]byte // without a response yet, by raw id
	isInitialized                                               bool
}

func newSession() *session {
	return &session{clientRequests: map[string]string{}, backendRequests: map[string]struct{}{}, pendingSetLevels: map[string][]byte{}}
}

// currentBackend returns the backend, or nil if there is none.
func (s *session) currentBackend() Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.backend
}

// attachBackend makes b the current backend, unless the client has left.
func (s *session) attachBackend(b Backend) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.clientLeft {
		s.backend = b
	}
	return !s.clientLeft
}

// detachBackend removes b and returns the requests that were open with it. It reports
// false if b is not the current backend or the client has left.
func (s *session) detachBackend(b Backend) (clientRequests map[string]string, backendRequests map[string]struct{}, detached bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backend != b || s.clientLeft {
		return nil, nil, false
	}
	clientRequests, backendRequests = s.clientRequests, s.backendRequests
	s.backend, s.clientRequests, s.backendRequests = nil, map[string]string{}, map[string]struct{}{}
	return clientRequests, backendRequests, true
}

// markClientLeft records that the client has left, and returns the current backend.
func (s *session) markClientLeft() Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clientLeft = true
	return s.backend
}

// trackClientMessages records what the client sends to b. Current reports whether b still
// is the backend; forward, whether the line is for it. A response to a request of an
// earlier backend is not.
func (s *session) trackClientMessages(b Backend, messages parsedLine) (forward, current bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backend != b {
		return false, false
	}
	for i := range messages {
		m := &messages[i]
		switch {
		case m.IsRequest():
			s.clientRequests[string(m.ID)] = s.trackRequest(m)
		case m.Method == "notifications/initialized":
			s.initializedNotification = bytes.Clone(m.Raw)
		case m.Method == string(mcp.MethodNotificationCancelled):
			delete(s.clientRequests, cancelledID(m)) // a cancelled request gets no response
		case m.Method == "" && len(messages) == 1:
			_, open := s.backendRequests[string(m.ID)]
			delete(s.backendRequests, string(m.ID))
			return open || m.ID == nil, true
		}
	}
	return true, true
}

// trackRequest records a request that a new backend must receive, too. It returns the name
// of the tool that the request calls, or "". The caller holds mu.
func (s *session) trackRequest(m *message.Incoming) (tool string) {
	switch m.Method {
	case string(mcp.MethodInitialize):
		s.initializeRequest, s.initializeID = bytes.Clone(m.Raw), bytes.Clone(m.ID)
	case string(mcp.MethodSetLogLevel):
		s.pendingSetLevels[string(m.ID)] = bytes.Clone(m.Raw)
	case string(mcp.MethodToolsCall):
		var params struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(m.Params, &params) // the backend refuses malformed parameters
		return params.Name
	}
	return ""
}

// trackBackendMessages records what the backend sends.
func (s *session) trackBackendMessages(messages parsedLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range messages {
		m := &messages[i]
		switch {
		case m.IsRequest():
			s.backendRequests[string(m.ID)] = struct{}{}
		case m.Method == string(mcp.MethodNotificationCancelled):
			delete(s.backendRequests, cancelledID(m))
		case m.Method == "":
			s.trackResponse(m)
		}
	}
}

// trackResponse records a response of the backend. The caller holds mu.
func (s *session) trackResponse(m *message.Incoming) {
	delete(s.clientRequests, string(m.ID))
	if bytes.Equal(m.ID, s.initializeID) && m.Error == nil {
		s.isInitialized = true
	}
	if request := s.pendingSetLevels[string(m.ID)]; request != nil && m.Error == nil {
		s.setLevelRequest = request
	}
	delete(s.pendingSetLevels, string(m.ID))
}

// initialization returns what a new backend must receive: the initialize and setLevel
// requests and the initialized notification, each nil if the client sent none. It reports
// false if the client is not initialized.
func (s *session) initialization() (requests [][]byte, initialized []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return [][]byte{s.initializeRequest, s.setLevelRequest}, s.initializedNotification, s.isInitialized
}
