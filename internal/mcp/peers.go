package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/calls"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/smallstate"
)

// The buckets of sessions that several processes serve.
const (
	recordsBucket = "mcp sessions" // a [session.Record] by the session's id
	mailBucket    = "mcp mail"     // a [mail] by a random key
)

const (
	mailInterval = 250 * time.Millisecond
	// mailLifetime is how long mail is kept, for processes whose clocks differ.
	mailLifetime = time.Minute
	peersTimeout = 10 * time.Second
)

// A mail tells other processes of a session that has changed, or been deleted, or for which a
// message or a task has come.
type mail struct {
	From     string          `json:"from"` // a process
	Endpoint string          `json:"endpoint,omitempty"`
	Session  string          `json:"session"`
	Message  json.RawMessage `json:"message,omitempty"`
	Task     string          `json:"task,omitempty"`
	Call     string          `json:"call,omitempty"` // whose client is there
	Sent     time.Time       `json:"sent"`
}

// peers are the other processes that serve the sessions of an endpoint: a load balancer sends each
// request to any of them. Each makes the session of a record when a request names it. What
// concerns a stream or call that another one has goes there as mail. The methods may be called
// concurrently.
type peers struct {
	records, mail smallstate.Bucket
	endpoint      string
	self          string // this process and endpoint
	calls         *calls.Service
	logger        *slog.Logger
}

var _ session.Peers = (*peers)(nil)

func newPeers(s smallstate.Store, endpoint string, calls *calls.Service, logger *slog.Logger) *peers {
	return &peers{
		records: smallstate.Bucket{Store: s, Name: recordsBucket}, mail: smallstate.Bucket{Store: s, Name: mailBucket},
		endpoint: endpoint, self: rand.Text(), calls: calls, logger: logger,
	}
}

func peersContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), peersTimeout)
}

// add adds the record of a new session.
func (p *peers) add(sess *session.Session) error {
	ctx, cancel := peersContext()
	defer cancel()
	r := sess.Record()
	r.Endpoint = p.endpoint
	raw, err := json.Marshal(r)
	if err == nil {
		_, err = p.records.Add(ctx, sess.ID, raw)
	}
	return err
}

// find returns the record of a session of this endpoint, or nil.
func (p *peers) find(id string) (*session.Record, error) {
	if len(id) > smallstate.MaxKey {
		return nil, nil
	}
	ctx, cancel := peersContext()
	defer cancel()
	raw, err := p.records.Get(ctx, id)
	if raw == nil || err != nil {
		return nil, err
	}
	r := new(session.Record)
	if err := json.Unmarshal(raw, r); err != nil || r.Endpoint != p.endpoint {
		return nil, err
	}
	return r, nil
}

// Change implements [session.Peers].
func (p *peers) Change(id string, change func(*session.Record)) error {
	if err := p.update(id, change); err != nil {
		return err
	}
	p.send(mail{Session: id})
	return nil
}

func (p *peers) update(id string, change func(*session.Record)) error {
	ctx, cancel := peersContext()
	defer cancel()
	return p.records.Update(ctx, id, func(old []byte) ([]byte, error) {
		var r session.Record
		if old == nil {
			return nil, nil // the session has ended
		}
		if err := json.Unmarshal(old, &r); err != nil {
			return nil, err
		}
		change(&r)
		return json.Marshal(r)
	})
}

// see notes that a session's client is there.
func (p *peers) see(id string) error {
	return p.update(id, func(r *session.Record) { r.Seen = time.Now() })
}

// end ends a session for all.
func (p *peers) end(id string) error {
	ctx, cancel := peersContext()
	defer cancel()
	if err := p.records.Delete(ctx, id); err != nil {
		return err
	}
	p.send(mail{Session: id})
	return nil
}

// sweep deletes the records of sessions that no process has in memory any more.
func (p *peers) sweep(ctx context.Context) error {
	return p.records.DeleteIf(ctx, func(v smallstate.Value) bool {
		var r session.Record
		return json.Unmarshal(v.Value, &r) == nil && time.Since(r.Seen) > 2*sessionIdleTimeout
	})
}

// Forward implements [session.Peers].
func (p *peers) Forward(id string, m msg.Incoming) { p.send(mail{Session: id, Message: m.Raw}) }

// AnnounceTask implements [session.Peers].
func (p *peers) AnnounceTask(id, task string) { p.send(mail{Session: id, Task: task}) }

// NotePresence implements [session.Peers].
func (p *peers) NotePresence(id, call string) { p.send(mail{Session: id, Call: call}) }

func (p *peers) send(m mail) {
	m.From, m.Endpoint, m.Sent = p.self, p.endpoint, time.Now()
	raw, err := json.Marshal(m)
	ctx, cancel := peersContext()
	defer cancel()
	if err == nil {
		_, err = p.mail.Add(ctx, rand.Text(), raw)
	}
	if err != nil {
		p.logger.Error("telling other processes of a client's session", "err", err)
	}
}

// takeMail passes new mail to receive until ctx ends.
func (p *peers) takeMail(ctx context.Context, receive func(mail)) {
	t := time.NewTicker(mailInterval)
	defer t.Stop()
	known := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		all, err := p.mail.Values(ctx)
		if err != nil {
			continue // the next time
		}
		there := make(map[string]bool, len(all))
		for _, v := range all {
			there[v.Key] = true
			var m mail
			if err := json.Unmarshal(v.Value, &m); err != nil {
				continue
			}
			if time.Since(m.Sent) > mailLifetime {
				_ = p.mail.Delete(ctx, v.Key) // or the next time
			}
			if !known[v.Key] && m.From != p.self && m.Endpoint == p.endpoint {
				go receive(m) // which may wait for a client to read
			}
		}
		known = there
	}
}

// receive handles mail.
func (s *sessions) receive(m mail) {
	s.mu.Lock()
	sess := s.http[m.Session]
	s.mu.Unlock()
	if sess == nil {
		return
	}
	switch {
	case m.Task != "":
		s.peers.calls.AnnounceTask(sess, m.Task)
	case m.Call != "":
		s.peers.calls.NotePresence(sess, m.Call)
	case m.Message == nil:
		if _, err := s.refresh(sess.ID, sess.Caller(), sess.PageBaseURL); err != nil {
			s.peers.logger.Error("reading a client's session", "err", err)
		}
	default:
		parsed, invalid := msg.Parse(m.Message)
		switch {
		case invalid != nil:
		case !parsed.IsResponse():
			sess.HandleNotification(parsed)
		case !sess.Requests.HandleResponse(parsed):
			s.peers.calls.HandleResponse(sess, parsed, nil)
		}
	}
}

// errUnavailable is the error for a session that can't be read or changed now.
var errUnavailable = msg.Errorf(mcp.INTERNAL_ERROR, "the session can't be read now; try again later")
