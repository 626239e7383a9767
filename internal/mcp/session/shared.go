package session

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
)

// A Record is what all processes know of a session that several serve.
type Record struct {
	Endpoint   string     `json:"endpoint,omitempty"` // the upstream that is served alone
	Owner      string     `json:"owner"`
	Identified bool       `json:"identified,omitempty"`
	Name       string     `json:"name,omitempty"` // of the client
	Client     msg.Client `json:"client"`
	Subscribed []string   `json:"subscribed,omitempty"` // URIs of resources
	Handles    []string   `json:"handles,omitempty"`
	Seen       time.Time  `json:"seen"` // when the client was there
}

// Peers are the other processes that serve a session. Its methods may be called concurrently.
type Peers interface {
	// Change changes what all know of the session.
	Change(id string, change func(*Record)) error
	// Forward passes a message of the client to them, for the one that knows what it is about.
	Forward(id string, m msg.Incoming)
	// AnnounceTask has the one that has the session's stream notify the client of a task's changes.
	AnnounceTask(id, task string)
	// NotePresence tells the one that has started a call's run that the client has a stream of it.
	NotePresence(id, call string)
}

// Share makes the session one that peers serve, too.
func (s *Session) Share(p Peers) {
	s.peers = p
	s.lastID.Store(rand.Uint64() / 2) // theirs have other ids
}

// Peers returns the other processes that serve the session; nil if there are none.
func (s *Session) Peers() Peers { return s.peers }

// change changes what other processes know of the session.
func (s *Session) change(change func(*Record)) error {
	if s.peers == nil {
		return nil
	}
	return s.peers.Change(s.ID, change)
}

// Record returns what other processes have to know of the session.
func (s *Session) Record() Record {
	r := Record{Owner: s.Caller().ID, Identified: s.Identified, Seen: time.Now()}
	if c := s.Client(); c != nil {
		r.Name, r.Client = c.Name, c.Client
	}
	return r
}

// Apply brings the session up to date. It returns the resources that the client has subscribed to
// meanwhile.
func (s *Session) Apply(r *Record) (subscribed []string) {
	s.UpdateClient(func(c *requests.Client) { c.Name, c.Client = r.Name, r.Client })
	s.handles.set(r.Handles)
	return s.Changes.replace(r.Subscribed)
}

// SetLogLevel sets the least severe log messages that the client gets.
func (s *Session) SetLogLevel(level msg.Severity) error {
	s.UpdateClient(func(c *requests.Client) { c.LogLevel = level })
	return s.change(func(r *Record) { r.Client.LogLevel = level })
}

// Subscribe subscribes the client to a resource.
func (s *Session) Subscribe(uri string) error {
	if err := s.Changes.Subscribe(uri); err != nil {
		return err
	}
	return s.change(func(r *Record) {
		if !slices.Contains(r.Subscribed, uri) {
			r.Subscribed = append(r.Subscribed, uri)
		}
	})
}

// Unsubscribe ends a subscription.
func (s *Session) Unsubscribe(uri string) error {
	s.Changes.Unsubscribe(uri)
	return s.change(func(r *Record) {
		r.Subscribed = slices.DeleteFunc(r.Subscribed, func(other string) bool { return other == uri })
	})
}

// RememberHandle records that the session has returned a run's handle.
func (s *Session) RememberHandle(run string) error {
	s.handles.remember(run)
	return s.change(func(r *Record) { r.Handles = addHandle(r.Handles, run) })
}

// Handles returns the handles of the runs that the session has returned.
func (s *Session) Handles() []string { return s.handles.all() }

// HasCaller reports whether the session with a record is the caller's.
func (r *Record) HasCaller(c generators.Caller) bool { return r.Owner == c.ID }
