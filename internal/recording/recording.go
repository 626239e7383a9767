package recording

import (
	"bytes"
	"container/list"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A recording has the messages of one run.
//
// A message is only noted when it goes. It is read, masked and numbered when it is shown or
// stored.
type recording struct {
	run string

	// Guarded by the recorder's mu:
	news     news
	unstored uint64 // messages that the store lacks
	weight   int    // as counted by the recorder
	recent   *list.Element
	unsaved  *list.Element // nil if the store lacks nothing, or storing failed
	since    time.Time     // when it became unsaved

	// Guarded by the recorder's reading:
	isRead   bool
	lost     uint64 // of the messages that were lost, those that the store doesn't know of
	messages []Message
	bytes    int
	lastSeq  uint64
	stored   uint64                 // the last message that the store has; 0 if its recording is to be replaced
	size     int                    // of the store's recording, in bytes
	open     map[string]openRequest // requests without a response, by their requestKey
}

// News are the messages that aren't read yet.
type news struct {
	noted     []noted // the newest, in the order in which they went
	bytes     int
	passed    int       // messages that were noted before those, and dropped
	passedIDs []Message // the requests and responses among them

	unstored, lost uint64 // when they were taken: see recording and Recorder
}

// A noted message is one that went, as it is until it is read.
type noted struct {
	Observed
	at      time.Time
	content func(json.RawMessage) json.RawMessage
	read    *Message // nil if it isn't read yet
}

// An openRequest is one that has no response yet.
type openRequest struct {
	method string
	at     time.Time
}

// note notes a message, and drops the oldest ones that there is no room for.
func (r *recording) note(n noted) {
	all := &r.news
	all.noted, all.bytes = append(all.noted, n), all.bytes+n.weight()
	r.unstored++
	for all.bytes > maxBytes || len(all.noted) > maxMessages {
		all.pass()
	}
}

// pass drops the oldest message, except for what the response to it, or its request, needs.
func (n *news) pass() {
	oldest := n.noted[0]
	n.noted[0] = noted{} // the slice keeps its array
	n.noted, n.bytes, n.passed = n.noted[1:], n.bytes-oldest.weight(), n.passed+1
	if len(n.passedIDs) < maxMessages && (oldest.read != nil || bytes.Contains(oldest.Data, []byte(`"id"`))) {
		m := *oldest.message()
		m.Message = nil
		n.passedIDs = append(n.passedIDs, m)
	}
}

// addNews adds messages that were noted.
func (r *recording) addNews(n news) {
	if n.passed > 0 {
		r.drop(uint64(n.passed))
	}
	for _, m := range n.passedIDs {
		r.match(&m)
	}
	for _, one := range n.noted {
		r.add(*one.message())
	}
}

// weight is about how much room a noted message takes, in bytes.
func (n *noted) weight() int {
	if n.read != nil {
		return n.read.weight()
	}
	return len(n.Data) + 200
}

// message reads a message.
func (n *noted) message() *Message {
	if n.read != nil {
		return n.read
	}
	m := newMessage(&n.Observed)
	m.Time, m.Message = n.at, json.RawMessage(n.Data)
	if m.Kind == Invalid && !json.Valid(n.Data) {
		m.Message = rawjson.EncodeText(strings.ToValidUTF8(string(n.Data[:min(len(n.Data), maxMessage)]), "\ufffd"))
		m.Cut = m.Cut || len(n.Data) > maxMessage
	}
	m.Message = bytes.ToValidUTF8(n.content(m.Message), []byte("\ufffd"))
	if len(m.Message) > maxMessage {
		m.Message, m.Cut = rawjson.EncodeText(strings.ToValidUTF8(string(m.Message[:maxMessage]), "")), true
	}
	m.Peer, m.Method, m.ID = line(m.Peer), line(m.Method), line(m.ID)
	return &m
}

// line returns a name of the other end's as it is shown.
func line(text string) string {
	return humanize.TruncateBytes(strings.ToValidUTF8(text, "\ufffd"), maxName, "…")
}

// parse adds the messages that the store has. Lost is the number of those that went later
// and are neither there nor in memory: then the earlier ones don't count either.
func (r *recording) parse(stored []byte, lost uint64) (err error) {
	r.isRead, r.lost = true, lost
	for line := range bytes.Lines(stored) {
		var m Message
		if json.Unmarshal(line, &m) != nil {
			err = errors.New("they are damaged")
			break
		}
		if r.lastSeq == 0 {
			r.lastSeq = max(m.Seq, 1) - 1
		}
		r.add(m)
	}
	if lost > 0 {
		r.drop(lost)
	}
	return err
}

// toStore returns the messages that the store lacks, or all of them if its recording is to
// be replaced: because messages are missing between its and these, or it has grown large by
// old ones.
func (r *recording) toStore() (messages []Message, replaces bool) {
	if r.stored == 0 || r.size > 2*maxBytes || len(r.messages) == 0 || r.messages[0].Seq > r.stored+1 {
		return r.messages, true
	}
	return r.messages[r.stored+1-r.messages[0].Seq:], false
}

// drop drops all messages, and as many more that went after them.
func (r *recording) drop(more uint64) {
	r.messages, r.bytes = nil, 0
	r.lastSeq += more
}

// add adds a message, and drops the oldest ones that there is no room for.
func (r *recording) add(m Message) {
	r.lastSeq++
	m.Seq = r.lastSeq
	r.match(&m)
	r.messages, r.bytes = append(r.messages, m), r.bytes+m.weight()
	for len(r.messages) > 1 && (r.bytes > maxBytes || len(r.messages) > maxMessages) {
		r.bytes -= r.messages[0].weight()
		r.messages[0] = Message{} // the slice keeps its array
		r.messages = r.messages[1:]
	}
}

// match adds to a response what its request says.
func (r *recording) match(m *Message) {
	switch m.Kind {
	case Request:
		if r.open == nil {
			r.open = make(map[string]openRequest)
		}
		if len(r.open) < maxMessages {
			r.open[m.requestKey(m.Direction)] = openRequest{m.Method, m.Time}
		}
	case Response:
		way := In
		if m.Direction == In {
			way = Out
		}
		key := m.requestKey(way)
		if request, ok := r.open[key]; ok {
			m.Method, m.Duration = request.method, max(m.Time.Sub(request.at), 0).Milliseconds()
			delete(r.open, key)
		}
	}
}
